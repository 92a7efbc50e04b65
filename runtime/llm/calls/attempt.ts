import { decodeBody } from "../../http/body/content-coding.ts";
import type { CountedBuffer } from "../../http/body/counted-buffer.ts";
import type { Exchange } from "../../http/exchange.ts";
import { headerValue } from "../../http/headers/header-list.ts";
import { endToEnd } from "../../http/headers/hop-by-hop.ts";
import type {
  UpstreamCall,
  UpstreamFailure,
  UpstreamHandler,
  UpstreamRequest,
} from "../../http/upstream/upstream.ts";
import type { ResponseFacts } from "../chat/formats.ts";
import type { LlmError } from "../chat/llm-error.ts";
import { forwardedHeaders, isEventStream } from "./call-headers.ts";
import type { ChatCall } from "./chat-call.ts";
import { maxError, maxWhole } from "./limits.ts";
import { StreamResponse } from "./stream-response.ts";
import type { LlmTarget, StreamRelay, StreamStep, WholeResponse } from "./target.ts";

/** How one request to a provider ended. */
export type AttemptOutcome =
  /** The client has its response, whole or broken off with an error of its format. */
  | { readonly kind: "responded"; readonly facts: ResponseFacts; readonly error?: LlmError }
  /** The client has nothing yet. */
  | {
      readonly kind: "failed";
      readonly error: LlmError;
      /** Flat list for the client, when this is the last provider. */
      readonly headers: readonly string[];
      /** Another provider may do better. */
      readonly mayTryNext: boolean;
    }
  | { readonly kind: "abandoned" };

/** What one attempt is about. */
export interface AttemptContext {
  readonly exchange: Exchange;
  readonly call: ChatCall;
  readonly target: LlmTarget;
  readonly model: string;
  /** What every response says beside what the provider does: a flat list. */
  readonly headers: readonly string[];
  /** Called before the client has the end of its response: the access log is written then. */
  readonly settle: (outcome: AttemptOutcome) => void;
}

/** Sends a request to a provider, and its response to the client. */
export function attempt(request: UpstreamCall, context: AttemptContext): Promise<AttemptOutcome> {
  return new Promise((resolve) => new Attempt(context, resolve).start(request));
}

class Attempt implements UpstreamHandler {
  readonly #context: AttemptContext;
  readonly #resolve: (outcome: AttemptOutcome) => void;
  #request: UpstreamRequest | undefined;
  #status = 0;
  #headers: readonly string[] = [];
  #relay: StreamRelay | undefined;
  #client: StreamResponse | undefined;
  /** The pieces of a response that is read as a whole. */
  #gathered: CountedBuffer | undefined;
  #isOver = false;

  constructor(context: AttemptContext, resolve: (outcome: AttemptOutcome) => void) {
    this.#context = context;
    this.#resolve = resolve;
  }

  start(call: UpstreamCall): void {
    const { exchange, target } = this.#context;
    exchange.onAbort(() => {
      this.#request?.abort();
      this.#finish({ kind: "abandoned" });
    });
    if (this.#isOver) return;
    this.#request = target.provider.upstream.send(call, this);
  }

  onHead(status: number, headers: readonly string[]): void {
    const { exchange, call, target, model } = this.#context;
    this.#status = status;
    this.#headers = headers;
    if (status >= 300) return;
    if (isEventStream(headers)) {
      this.#relay = target.openStream(call, model);
      const own = target.isNative
        ? endToEnd(headers, "")
        : [...forwardedHeaders(headers), "content-type", "text/event-stream"];
      const head = [...own, "cache-control", "no-cache", ...this.#context.headers];
      this.#client = new StreamResponse(exchange, head, this.#relay.ping);
    } else if (target.isNative && !call.isStream) {
      exchange.writeHead(status, [...endToEnd(headers, ""), ...this.#context.headers]);
    }
  }

  onData(chunk: Buffer): boolean {
    if (this.#isOver) return true;
    if (this.#relay !== undefined) return this.#step(this.#relay.push(chunk));
    const { exchange } = this.#context;
    this.#gathered ??= exchange.newBuffer();
    const isError = this.#status >= 300;
    const limit = isError ? maxError : maxWhole;
    if (this.#gathered.length + chunk.length > limit || !this.#gathered.push(chunk)) {
      return this.#tooLong(isError);
    }
    return exchange.headersSent ? this.#paced(exchange.write(chunk)) : true;
  }

  onEnd(): void {
    if (this.#isOver) return;
    if (this.#relay !== undefined) this.#step(this.#relay.close());
    else void this.#whole();
  }

  onError({ kind, detail }: UpstreamFailure): void {
    const { exchange } = this.#context;
    exchange.record.fields ??= new Map();
    exchange.record.fields.set("error", detail);
    const isTimeout = kind === "timeout";
    this.#fail({
      kind: isTimeout ? "timeout" : kind === "connect" ? "overloaded" : "server",
      message: isTimeout ? "the provider did not respond in time" : unreachable[kind],
      status: isTimeout ? 504 : kind === "connect" ? 503 : 502,
    });
  }

  #step({ output, hasContent, state }: StreamStep): boolean {
    const client = this.#client;
    if (client === undefined || this.#isOver) return true;
    const isReady = client.write(output, hasContent || state === "ended");
    if (state === "open") return this.#paced(isReady);
    if (state === "ended") {
      this.#finish({ kind: "responded", facts: this.#relay?.facts ?? {} });
      client.end();
    } else {
      this.#fail(state);
      this.#request?.abort();
    }
    return true;
  }

  /** The client reads slowly: so does the gateway. */
  #paced(isReady: boolean): boolean {
    if (!isReady) this.#context.exchange.onDrain(() => this.#request?.resume());
    return isReady;
  }

  async #whole(): Promise<void> {
    const { exchange } = this.#context;
    const coding = headerValue(this.#headers, "content-encoding");
    const body = this.#gathered?.bytes() ?? Buffer.alloc(0);
    const content = await decodeBody(body, coding, maxWhole, exchange.newBuffer());
    if (this.#isOver) return;
    const text = typeof content === "string" ? "" : Buffer.from(content).toString("utf8");
    this.#gathered?.release();
    if (this.#status >= 300) return this.#refused(text);
    if (exchange.headersSent) {
      this.#finish({ kind: "responded", facts: this.#readWhole(text).facts });
      exchange.end();
      return;
    }
    try {
      const whole = this.#readWhole(text);
      const type = ["content-type", "application/json"];
      const headers = [...forwardedHeaders(this.#headers), ...type, ...this.#context.headers];
      this.#finish({ kind: "responded", facts: whole.facts });
      exchange.respond(200, headers, whole.text ?? text);
    } catch {
      this.#fail({ kind: "server", message: "the provider gave no valid response", status: 502 });
    }
  }

  #readWhole(text: string): WholeResponse {
    const { target, call, model } = this.#context;
    return target.readWhole({ text, headers: this.#headers }, call, model);
  }

  #refused(text: string): void {
    const error = this.#context.target.readError(this.#status, text);
    const isOwn = this.#context.target.provider.clientKey === undefined;
    // The gateway's credentials are no business of the client's.
    if (isOwn && (error.kind === "authentication" || this.#status === 401)) {
      this.#fail({ kind: "server", message: "the provider refused the gateway", status: 502 });
    } else if (this.#status < 400) {
      this.#fail({
        kind: "server",
        message: "the provider sent the gateway elsewhere",
        status: 502,
      });
    } else this.#fail(error);
  }

  #tooLong(isError: boolean): true {
    this.#request?.abort();
    const message = "the provider's response is too long";
    if (isError) this.#refused("");
    else this.#fail({ kind: "server", message, status: 502 });
    return true;
  }

  #fail(error: LlmError): void {
    if (this.#isOver) return;
    const { exchange } = this.#context;
    this.#client?.stop();
    if (!exchange.headersSent) {
      const headers = forwardedHeaders(this.#headers);
      this.#finish({ kind: "failed", error, headers, mayTryNext: mayTryNext(error) });
      return;
    }
    exchange.record.reason = "UpstreamFailure";
    this.#finish({ kind: "responded", facts: this.#relay?.facts ?? {}, error });
    if (this.#client === undefined) exchange.abort();
    else this.#client.end(this.#relay?.fail(error));
  }

  #finish(outcome: AttemptOutcome): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#client?.stop();
    this.#context.settle(outcome);
    this.#resolve(outcome);
  }
}

/** What clients learn of a call that failed without a response. */
const unreachable = {
  connect: "the provider is not reachable",
  closed: "the provider closed the connection",
  protocol: "the provider gave no valid response",
  timeout: "the provider did not respond in time",
} as const;

/** Whether the same request may succeed elsewhere: never what is wrongField with the request itself. */
function mayTryNext({ kind, status }: LlmError): boolean {
  if (status === 408) return true;
  switch (kind) {
    case "rate-limit":
    case "quota":
    case "overloaded":
    case "server":
    case "timeout":
      return true;
    default:
      return false;
  }
}
