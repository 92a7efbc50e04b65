import { decodeBody, isCoded } from "../../http/body/content-coding.ts";
import type { CountedBuffer } from "../../http/body/counted-buffer.ts";
import { endToEnd } from "../../http/headers/hop-by-hop.ts";
import { thenMaybe } from "../../process/maybe-promise.ts";
import type { ResponseFacts } from "../chat/formats.ts";
import { type LlmError, LlmRefusal } from "../chat/llm-error.ts";
import { bufferOf } from "../chat/stream-step.ts";
import { parseObject } from "../formats/parse-object.ts";
import { isJson, requestIdOf } from "./call-headers.ts";
import { MAX_AT_ONCE, MAX_ERROR, MAX_WHOLE, RETRIED_STATUSES } from "./limits.ts";
import { LOST_HEADER, noteLost, noteWarning, WARNING_HEADER } from "./note-warning.ts";
import { INVALID_RESPONSE, serverError } from "./provider-failure.ts";
import { ReceivedBody, type ReceivedHead } from "./received-head.ts";
import { guardText, guardWhole, type ResponseGuard } from "./response-guard.ts";
import type { WholeResponse } from "./target.ts";
import { ownHeaders, receivedHeaders, type Transfer, type TransferOwner } from "./transfer.ts";

/** Transfers a response that is read as a whole: one that is not a stream, or an error. */
export class WholeTransfer implements Transfer {
  readonly facts: ResponseFacts = {};
  readonly #owner: TransferOwner;
  readonly #head: ReceivedHead;
  /** Whether the body is forwarded unchanged. */
  readonly #passes: boolean;
  /** Whether the body is a text rather than JSON. */
  readonly #isText: boolean;
  /** Chunks received so far. */
  #gathered: CountedBuffer | undefined;
  /**
   * The whole body, if it arrived in one short chunk that is forwarded immediately, so that no buffer must account for it.
   */
  #sole: Buffer | undefined;
  #estimate = 0;
  /** Error that the response reports despite its status. */
  #refusal: LlmError | undefined;

  constructor(owner: TransferOwner, head: ReceivedHead) {
    this.#owner = owner;
    this.#head = head;
    const { target, call } = owner.context;
    const isGood = head.status < 300;
    const isOwn = target.isNative && target.changesResponse?.(call) !== true;
    this.#isText = isGood && target.contentOf?.(head.contentType) === "text";
    this.#passes = isGood && isOwn && (this.#isText || isJson(head.contentType));
  }

  push(chunk: Buffer): boolean {
    const { exchange, guard } = this.#owner.context;
    if (this.#passes && guard === undefined && this.#isSole(chunk)) {
      this.#sole = chunk;
      return true;
    }
    this.#gathered ??= exchange.newBuffer();
    const isError = this.#head.status >= 300;
    const limit = isError ? MAX_ERROR : MAX_WHOLE;
    if (this.#gathered.length + chunk.length > limit || !this.#gathered.push(chunk)) {
      return this.#tooLong(isError);
    }
    if (exchange.headersSent) return this.#paced(exchange.write(chunk));
    const isHeld = !this.#passes || guard !== undefined;
    if (isHeld || this.#gathered.length <= MAX_AT_ONCE) return true;
    this.#owner.contentBegan();
    exchange.writeHead(this.#head.status, receivedHeaders(this.#head, this.#owner.context));
    return this.#paced(exchange.write(this.#gathered.bytes()));
  }

  end(): void {
    const coding = this.#head.value("content-encoding");
    const body = this.#sole ?? this.#gathered?.bytes() ?? NO_BYTES;
    if (isCoded(coding)) void this.#decode(body, coding);
    else this.#read(body, body);
  }

  get pieces(): number {
    return this.#estimate;
  }

  stop(): void {}

  abortWith(): void {
    this.#owner.context.exchange.abort();
  }

  /** Whether a chunk is the whole response, and short. */
  #isSole(chunk: Buffer): boolean {
    return this.#head.fields?.length === chunk.length && chunk.length <= MAX_AT_ONCE;
  }

  /** Slows down the provider when the client reads slowly. */
  #paced(isReady: boolean): boolean {
    if (!isReady) this.#owner.context.exchange.onDrain(() => this.#owner.resume());
    return this.#owner.keepPace(isReady);
  }

  #tooLong(isError: boolean): true {
    this.#owner.abort();
    if (isError) this.#refused("");
    else this.#owner.fail(serverError("the provider's response is too long"), true);
    return true;
  }

  async #decode(body: Buffer, coding: string): Promise<void> {
    const { exchange } = this.#owner.context;
    const content = await decodeBody(body, coding, MAX_WHOLE, exchange.newBuffer());
    if (this.#owner.isOver) return;
    this.#read(body, typeof content === "string" ? NO_BYTES : bufferOf(content));
  }

  /** `content`: the decompressed body. */
  #read(body: Buffer, content: Buffer): void {
    const owner = this.#owner;
    const { exchange, guard } = owner.context;
    const received = new ReceivedBody(content, this.#head);
    this.#gathered?.release();
    if (this.#head.status >= 300) {
      this.#refused(received.text, body);
      return;
    }
    const whole = this.#readWhole(received);
    if (whole?.warning !== undefined) {
      exchange.setResponseHeader(WARNING_HEADER, noteWarning(exchange, whole.warning));
    }
    if (whole?.lost !== undefined) {
      exchange.setResponseHeader(LOST_HEADER, noteLost(exchange, whole.lost));
    }
    const isUncounted = whole?.facts.usage === undefined && whole?.facts.counted === undefined;
    if (isUncounted) this.#estimate = Math.ceil(content.length / 4);
    if (exchange.headersSent) {
      if (whole !== undefined) this.#record(whole, content);
      owner.respond(whole?.facts ?? {});
      exchange.end();
    } else if (whole === undefined) {
      owner.fail(this.#refusal ?? INVALID_RESPONSE, this.#refusal === undefined);
    } else if (guard === undefined) this.#deliver(whole, whole.text, { body, content });
    else void this.#guard(whole.text ?? received.text, guard, whole, { body, content });
  }

  /** Returns `undefined` if the response does not have the provider's format. */
  #readWhole(received: ReceivedBody): WholeResponse | undefined {
    const { target, call, model } = this.#owner.context;
    try {
      return target.readWhole(received, call, model);
    } catch (error) {
      if (error instanceof LlmRefusal) this.#refusal = error.error;
      return undefined;
    }
  }

  #guard(text: string, guard: ResponseGuard, whole: WholeResponse, own: OwnBody): void {
    thenMaybe(this.#isText ? guardText(text, guard) : guardWhole(text, guard), (guarded) => {
      if (this.#owner.isOver) return;
      if (guarded === undefined) this.#owner.fail(INVALID_RESPONSE, true);
      else if (typeof guarded === "object") this.#owner.reject(guarded, whole.facts);
      else this.#deliver(whole, guarded === text ? whole.text : guarded, own);
    });
  }

  /** `text`: the client's response; `undefined` to forward the provider's own. */
  #deliver(whole: WholeResponse, text: string | undefined, { body, content }: OwnBody): void {
    const head = this.#head;
    const { context } = this.#owner;
    const { exchange, headers } = context;
    this.#record(whole, text ?? content);
    this.#owner.respond(whole.facts);
    if (text !== undefined || !this.#passes) {
      const type = this.#isText ? head.contentType : "application/json";
      exchange.respond(200, ownHeaders(type, head, context), text ?? content);
    } else if (head.fields === undefined) {
      exchange.respond(head.status, receivedHeaders(head, context), body);
    } else exchange.passWhole(head.status, head.fields, headers, body);
  }

  /** Records a response for a cache. `content`: the decompressed body. */
  #record({ warning }: WholeResponse, content: string | Buffer): void {
    const { recording, target, headers } = this.#owner.context;
    if (recording === undefined || warning !== undefined) return;
    recording.begin("application/json", this.#head, target.provider, headers.list);
    recording.add([content]);
  }

  /** `text`: the decompressed body; `body`: the body as received, absent if it is too long. */
  #refused(text: string, body?: Buffer): void {
    const { status, headers } = this.#head;
    const { target } = this.#owner.context;
    const error = target.readError(status, text, headers);
    const isOwn = target.provider.clientKey === undefined;
    const mayTryNext = RETRIED_STATUSES.has(status);
    // Errors about the gateway's credentials do not concern the client.
    if (isOwn && (error.kind === "authentication" || status === 401)) {
      this.#owner.fail(serverError("the provider rejected the gateway's credentials"), mayTryNext);
    } else if (status < 400) {
      this.#owner.fail(serverError("the provider responded with a redirect"), mayTryNext);
    } else {
      const own = error.isForeign === true ? undefined : body;
      this.#owner.fail({ ...error, ...this.#asReceived(text, own) }, mayTryNext, true);
    }
  }

  /** Returns the provider's ID of the request and, if it uses the client's format, its own error. */
  #asReceived(text: string, body: Buffer | undefined): Pick<LlmError, "own" | "requestId"> {
    const { headers } = this.#head;
    const { isNative } = this.#owner.context.target;
    const requestId = requestIdOf(headers);
    if (!isNative || body === undefined || parseObject(text) === undefined) return { requestId };
    return { requestId, own: { body, headers: endToEnd(headers, "") } };
  }
}

/** Body of a provider's response as received, and decompressed. */
interface OwnBody {
  readonly body: Buffer;
  readonly content: Buffer;
}

const NO_BYTES = Buffer.alloc(0);
