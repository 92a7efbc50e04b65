import { decodeBody, isCoded } from "../../http/body/content-coding.ts";
import type { CountedBuffer } from "../../http/body/counted-buffer.ts";
import { type Exchange, logFields } from "../../http/exchange.ts";
import { endToEnd } from "../../http/headers/hop-by-hop.ts";
import type { AddedFields } from "../../http/http1/added-fields.ts";
import type { ReceivedFields } from "../../http/http1/received-fields.ts";
import type {
  UpstreamFailure,
  UpstreamHandler,
  UpstreamRequest,
} from "../../http/upstream/upstream.ts";
import type { ErrorFormat, ResponseFacts } from "../chat/formats.ts";
import type { LlmError } from "../chat/llm-error.ts";
import { bufferOf, type StreamStep } from "../chat/stream-step.ts";
import type { AttemptOutcome } from "./attempt-outcome.ts";
import { forwardedHeaders, isEventStream, isJson } from "./call-headers.ts";
import type { ChatCall } from "./chat-call.ts";
import { maxAtOnce, maxError, maxWhole, retriedStatuses } from "./limits.ts";
import {
  isOfProvider,
  noValidResponse,
  serverError,
  unreachable,
  withRetryAfter,
} from "./provider-failure.ts";
import { type ProviderRequest, send } from "./provider-request.ts";
import { ReceivedBody, ReceivedHead } from "./received-head.ts";
import { respondError } from "./respond-error.ts";
import { GuardedStream, guardError, guardWhole, type ResponseGuard } from "./response-guard.ts";
import { StreamResponse } from "./stream-response.ts";
import type { LlmTarget, StreamRelay, WholeResponse } from "./target.ts";

/** What one attempt is about. */
export interface AttemptContext {
  readonly exchange: Exchange;
  readonly call: ChatCall;
  readonly target: LlmTarget;
  readonly model: string;
  /** What every response says beside what the provider does. */
  readonly headers: AddedFields;
  /** Milliseconds to the end of its response; undefined: no limit. */
  readonly timeout: number | undefined;
  /** How the client reads errors. */
  readonly errors: ErrorFormat;
  /** What guards the texts of the response; undefined: nothing does. */
  readonly guard: ResponseGuard | undefined;
  /** Milliseconds of silence after which the client of a stream gets a sign of life; undefined: it gets none. */
  readonly keepAlive: number | undefined;
  /** Called once, before the client has the end of its response: the access log is written then. */
  readonly settle: (outcome: AttemptOutcome) => void;
}

/** Sends a request to a provider, and its response to the client; `settle` of the context is told what came of it. */
export function attempt(request: ProviderRequest, context: AttemptContext): void {
  new Attempt(context).start(request);
}

class Attempt implements UpstreamHandler {
  readonly #context: AttemptContext;
  #request: UpstreamRequest | undefined;
  #head: ReceivedHead | undefined;
  #firstContent: number | undefined;
  /** About how many tokens a whole response has that says nothing of them. */
  #estimate = 0;
  #timer: NodeJS.Timeout | undefined;
  #relay: StreamRelay | undefined;
  #guarded: GuardedStream | undefined;
  #client: StreamResponse | undefined;
  /** The pieces of a response that is read as a whole. */
  #gathered: CountedBuffer | undefined;
  /** All of it, where it came in one short piece that goes on in this turn: nothing has to count it. */
  #sole: Buffer | undefined;
  /** The body of a whole response goes to the client as it is. */
  #passes = false;
  #isOver = false;
  /** The stream has failed: guards are asked about what the provider says of it. */
  #isEnding = false;
  /** The client takes what comes. */
  #isReady = true;
  /** The client has read more slowly than the response came. */
  #wasHeldUp = false;

  constructor(context: AttemptContext) {
    this.#context = context;
  }

  start(call: ProviderRequest): void {
    const { exchange, target, timeout } = this.#context;
    exchange.onAbort(() => {
      this.#request?.abort();
      const facts = this.#relay?.facts ?? {};
      this.#finish({ kind: "abandoned", facts, pieces: this.#pieces });
    });
    if (this.#isOver) return;
    if (timeout !== undefined) this.#timer = setTimeout(() => this.#timeOut(), timeout);
    this.#request = send(call, target.provider.upstream, this);
  }

  onHead(status: number, headers: readonly string[]): void {
    this.#begin(new ReceivedHead(status, headers));
  }

  onFields(status: number, fields: ReceivedFields): void {
    this.#begin(new ReceivedHead(status, fields));
  }

  #begin(received: ReceivedHead): void {
    const { exchange, call, target, model, keepAlive, guard } = this.#context;
    this.#head = received;
    if (received.status >= 300 || this.#isOver) return;
    const { contentType } = received;
    if (
      isEventStream(contentType) !== call.isStream ||
      (call.isStream && isCoded(received.value("content-encoding")))
    ) {
      this.#request?.abort();
      this.#fail(noValidResponse, true);
    } else if (call.isStream) {
      this.#relay = target.openStream(call, model);
      if (guard !== undefined) {
        this.#guarded = new GuardedStream(guard, (step) => {
          if (this.#deliverStep(step)) this.#request?.resume();
        });
      }
      const own = target.isNative ? this.#passedHeaders() : this.#ownHeaders("text/event-stream");
      const headers = [...own, "cache-control", "no-cache"];
      this.#client = new StreamResponse(exchange, {
        ...{ headers, ping: this.#relay.ping, keepAlive },
        onDrain: () => this.#drained(),
      });
    } else this.#passes = target.isNative && isJson(contentType);
  }

  onData(chunk: Buffer): boolean {
    if (this.#isOver) return true;
    if (this.#relay !== undefined) return this.#takeStep(this.#relay.push(chunk));
    const { exchange, guard } = this.#context;
    if (this.#passes && guard === undefined && this.#isSole(chunk)) {
      this.#sole = chunk;
      return true;
    }
    this.#gathered ??= exchange.newBuffer();
    const isError = this.#status >= 300;
    const limit = isError ? maxError : maxWhole;
    if (this.#gathered.length + chunk.length > limit || !this.#gathered.push(chunk)) {
      return this.#tooLong(isError);
    }
    if (exchange.headersSent) return this.#paced(exchange.write(chunk));
    const isHeld = !this.#passes || guard !== undefined;
    if (isHeld || this.#gathered.length <= maxAtOnce) return true;
    this.#firstContent = performance.now();
    exchange.writeHead(this.#status, this.#passedHeaders());
    return this.#paced(exchange.write(this.#gathered.bytes()));
  }

  /** Whether a piece is all of the response, and short. */
  #isSole(chunk: Buffer): boolean {
    return this.#head?.fields?.length === chunk.length && chunk.length <= maxAtOnce;
  }

  /** Those of the provider, for a body that is its own. */
  #passedHeaders(): string[] {
    const passed = endToEnd(this.#received.headers, "");
    passed.push(...this.#context.headers.list);
    return passed;
  }

  onEnd(): void {
    if (this.#isOver) return;
    if (this.#relay !== undefined) this.#takeStep(this.#relay.close());
    else this.#whole();
  }

  onError({ kind, detail }: UpstreamFailure): void {
    const { exchange } = this.#context;
    logFields(exchange.record).set("error", detail);
    this.#fail(unreachable[kind], true);
  }

  get #status(): number {
    return this.#head?.status ?? 0;
  }

  get #received(): ReceivedHead {
    return this.#head ?? noHead;
  }

  get #pieces(): number {
    return this.#relay?.pieces ?? this.#estimate;
  }

  #timeOut(): void {
    this.#request?.abort("timeout");
    this.#fail(unreachable.timeout, true);
  }

  /** False: nothing more is wanted for now. */
  #takeStep(step: StreamStep): boolean {
    if (this.#isOver) return true;
    const guarded = this.#guarded;
    if (guarded === undefined) return this.#deliverStep(step);
    guarded.push(step);
    return !guarded.isWaiting && this.#isReady;
  }

  #deliverStep({ output, hasContent, state }: StreamStep): boolean {
    const client = this.#client;
    if (client === undefined || this.#isOver) return true;
    if (hasContent) this.#firstContent ??= performance.now();
    const isReady = client.write(output, hasContent || state === "ended");
    if (state === "open") return this.#keepPace(isReady);
    if (state === "ended") {
      this.#respond(this.#relay?.facts ?? {});
      client.end();
    } else {
      this.#request?.abort();
      if (this.#isRejected && !client.hasBegun) this.#reject(state, this.#relay?.facts ?? {});
      else if (this.#isRejected || !client.hasBegun) this.#fail(state, isOfProvider(state), true);
      else void this.#failGuarded(state);
    }
    return true;
  }

  /** What a provider says in the middle of a stream passes guards like its texts. */
  async #failGuarded(error: LlmError): Promise<void> {
    if (this.#isEnding) return;
    this.#isEnding = true;
    const { guard } = this.#context;
    this.#fail(guard === undefined ? error : await guardError(error, guard), false, true);
  }

  get #isRejected(): boolean {
    return this.#context.guard?.run.error !== undefined;
  }

  /** The client reads slowly: so does the gateway. */
  #paced(isReady: boolean): boolean {
    if (!isReady) this.#context.exchange.onDrain(() => this.#drained());
    return this.#keepPace(isReady);
  }

  #keepPace(isReady: boolean): boolean {
    this.#isReady = isReady;
    this.#wasHeldUp ||= !isReady;
    return isReady;
  }

  #drained(): void {
    this.#isReady = true;
    this.#request?.resume();
  }

  #whole(): void {
    const coding = this.#received.value("content-encoding");
    const body = this.#sole ?? this.#gathered?.bytes() ?? nothing;
    if (isCoded(coding)) void this.#decoded(body, coding);
    else this.#read(body, body);
  }

  async #decoded(body: Buffer, coding: string): Promise<void> {
    const content = await decodeBody(body, coding, maxWhole, this.#context.exchange.newBuffer());
    if (!this.#isOver) this.#read(body, typeof content === "string" ? nothing : bufferOf(content));
  }

  /** `content`: the body without its coding. */
  #read(body: Buffer, content: Buffer): void {
    const { exchange, guard } = this.#context;
    const received = new ReceivedBody(content, this.#received);
    this.#gathered?.release();
    if (this.#status >= 300) {
      this.#refused(received.text);
      return;
    }
    const whole = this.#readWhole(received);
    const isUncounted = whole?.facts.usage === undefined && whole?.facts.counted === undefined;
    if (isUncounted) this.#estimate = Math.ceil(content.length / 4);
    if (exchange.headersSent) {
      this.#respond(whole?.facts ?? {});
      exchange.end();
    } else if (whole === undefined) this.#fail(noValidResponse, true);
    else if (guard === undefined) this.#deliver(whole.text, whole.facts, { body, content });
    else void this.#guard(whole.text ?? received.text, guard, whole, { body, content });
  }

  async #guard(
    text: string,
    guard: ResponseGuard,
    whole: WholeResponse,
    own: OwnBody,
  ): Promise<void> {
    const guarded = await guardWhole(text, guard);
    if (this.#isOver) return;
    if (guarded === undefined) this.#fail(noValidResponse, true);
    else if (typeof guarded === "object") this.#reject(guarded, whole.facts);
    else this.#deliver(guarded === text ? whole.text : guarded, whole.facts, own);
  }

  /** `text`: what the client gets; undefined: the provider's own. */
  #deliver(text: string | undefined, facts: ResponseFacts, { body, content }: OwnBody): void {
    const { exchange, headers } = this.#context;
    this.#respond(facts);
    const { status, fields } = this.#received;
    if (text !== undefined || !this.#passes) {
      exchange.respond(200, this.#ownHeaders("application/json"), text ?? content);
    } else if (fields === undefined) exchange.respond(status, this.#passedHeaders(), body);
    else exchange.passWhole(status, fields, headers, body);
  }

  /** The client gets nothing of what the provider was paid for. */
  #reject(error: LlmError, facts: ResponseFacts): void {
    const { exchange, errors, headers } = this.#context;
    exchange.record.reason = "PromptGuard";
    this.#respond(facts, error);
    respondError(exchange, error, errors, headers.list);
  }

  /** Those of a body that is made here. */
  #ownHeaders(type: string): string[] {
    const forwarded = forwardedHeaders(this.#received.headers, this.#context.target.provider);
    return [...forwarded, "content-type", type, ...this.#context.headers.list];
  }

  /** Undefined: it is not what the provider says it is. */
  #readWhole(received: ReceivedBody): WholeResponse | undefined {
    const { target, call, model } = this.#context;
    try {
      return target.readWhole(received, call, model);
    } catch {
      return undefined;
    }
  }

  #refused(text: string): void {
    const status = this.#status;
    const error = this.#context.target.readError(status, text, this.#received.headers);
    const isOwn = this.#context.target.provider.clientKey === undefined;
    const mayTryNext = retriedStatuses.has(status);
    // The gateway's credentials are no business of the client's.
    if (isOwn && (error.kind === "authentication" || status === 401)) {
      this.#fail(serverError("the provider refused the gateway"), mayTryNext);
    } else if (status < 400) {
      this.#fail(serverError("the provider sent the gateway elsewhere"), mayTryNext);
    } else this.#fail(error, mayTryNext, true);
  }

  #tooLong(isError: boolean): true {
    this.#request?.abort();
    if (isError) this.#refused("");
    else this.#fail(serverError("the provider's response is too long"), true);
    return true;
  }

  /** `isSaid`: by the provider. */
  #fail(error: LlmError, mayTryNext: boolean, isSaid = false): void {
    if (this.#isOver) return;
    const { exchange } = this.#context;
    this.#client?.stop();
    if (!exchange.headersSent) {
      const head = this.#head && withRetryAfter(this.#head, error);
      this.#finish({ kind: "failed", error, isSaid, head, mayTryNext });
      return;
    }
    exchange.record.reason = this.#isRejected ? "PromptGuard" : "UpstreamFailure";
    this.#respond(this.#relay?.facts ?? {}, error);
    if (this.#client === undefined) exchange.abort();
    else this.#client.end(this.#lastOf(error));
  }

  /** The end of a stream that failed. */
  #lastOf(error: LlmError): string | undefined {
    const last = this.#relay?.fail(error);
    return last === undefined ? undefined : (this.#guarded?.fail(last) ?? last);
  }

  /** The client has the response, or what there is of it. */
  #respond(facts: ResponseFacts, error?: LlmError): void {
    const head = this.#received;
    const isOfClient = this.#wasHeldUp && error === unreachable.timeout;
    const [firstContent, pieces] = [this.#firstContent, this.#pieces];
    this.#finish({ kind: "responded", facts, head, error, isOfClient, firstContent, pieces });
  }

  #finish(outcome: AttemptOutcome): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#client?.stop();
    this.#context.settle(outcome);
  }
}

/** The body of a provider's response as it came, and without its coding. */
interface OwnBody {
  readonly body: Buffer;
  readonly content: Buffer;
}

const nothing = Buffer.alloc(0);

/** In the place of the head of a response that is given without one. */
const noHead = new ReceivedHead(200, []);
