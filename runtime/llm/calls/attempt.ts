import type { Transform } from "node:stream";
import { isCoded, openDecoder } from "../../http/body/content-coding.ts";
import { logFields } from "../../http/exchange.ts";
import type { ReceivedFields } from "../../http/http1/received-fields.ts";
import type {
  UpstreamFailure,
  UpstreamHandler,
  UpstreamRequest,
} from "../../http/upstream/upstream.ts";
import type { ResponseFacts } from "../chat/formats.ts";
import { type LlmError, rejectionReason } from "../chat/llm-error.ts";
import type { AttemptOutcome } from "./attempt-outcome.ts";
import { isEventStream } from "./call-headers.ts";
import { MediaTransfer } from "./media-transfer.ts";
import { INVALID_RESPONSE, UNREACHABLE, withRetryAfter } from "./provider-failure.ts";
import { type ProviderRequest, send } from "./provider-request.ts";
import { ReceivedHead } from "./received-head.ts";
import { respondError } from "./respond-error.ts";
import { StreamTransfer } from "./stream-transfer.ts";
import type { AttemptContext, Transfer, TransferOwner } from "./transfer.ts";
import { WholeTransfer } from "./whole-transfer.ts";

/** Sends a request to a provider, and its response to the client. Reports the outcome to `settle` of the context. */
export function attempt(request: ProviderRequest, context: AttemptContext): void {
  new Attempt(context).start(request);
}

class Attempt implements UpstreamHandler, TransferOwner {
  readonly context: AttemptContext;
  #request: UpstreamRequest | undefined;
  #head: ReceivedHead | undefined;
  #transfer: Transfer | undefined;
  /** Decoder of a compressed stream; `undefined` if the stream is not compressed. */
  #decoder: Transform | undefined;
  #firstContent: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;
  /** Whether the client has read more slowly than the response arrived. */
  #wasHeldUp = false;

  constructor(context: AttemptContext) {
    this.context = context;
  }

  start(call: ProviderRequest): void {
    const { exchange, target, timeout } = this.context;
    exchange.onAbort(() => {
      this.#request?.abort();
      const { facts = {}, pieces = 0 } = this.#transfer ?? {};
      this.#finish({ kind: "abandoned", facts, pieces });
    });
    if (this.#isOver) return;
    if (timeout !== undefined) this.#timer = setTimeout(() => this.#timeOut(), timeout);
    this.#request = send(call, target.provider, this, exchange);
  }

  onHead(status: number, headers: readonly string[]): void {
    this.#begin(new ReceivedHead(status, headers));
  }

  onFields(status: number, fields: ReceivedFields): void {
    this.#begin(new ReceivedHead(status, fields));
  }

  #begin(head: ReceivedHead): void {
    const { call, target } = this.context;
    this.#head = head;
    if (this.#isOver) return;
    const isGood = head.status < 300;
    const areEvents = isEventStream(head.contentType);
    const isStream = call.isStream && (areEvents || target.mayIgnoreStream !== true);
    const isReadAsStream = isGood && isStream;
    const coding = isReadAsStream ? head.value("content-encoding") : undefined;
    const isMissing = isCoded(coding) && !this.#openDecoder(coding);
    if (isGood && (areEvents !== isStream || isMissing)) {
      this.abort();
      this.fail(INVALID_RESPONSE, true);
      return;
    }
    const isUnread = isGood && target.contentOf?.(head.contentType) === "bytes";
    if (isReadAsStream) this.#transfer = new StreamTransfer(this, head);
    else this.#transfer = isUnread ? new MediaTransfer(this, head) : new WholeTransfer(this, head);
  }

  onData(chunk: Buffer): boolean {
    if (this.#isOver) return true;
    if (this.#decoder !== undefined) return this.#decoder.write(chunk);
    return this.#transfer === undefined || this.#transfer.push(chunk);
  }

  onEnd(): void {
    if (this.#isOver) return;
    if (this.#decoder === undefined) this.#transfer?.end();
    else this.#decoder.end();
  }

  /** Opens a decoder in front of the transfer; false if the coding is unknown. */
  #openDecoder(coding: string): boolean {
    const decoder = openDecoder(coding);
    this.#decoder = decoder;
    decoder?.on("data", (piece: Buffer) => {
      if (!this.#isOver && this.#transfer?.push(piece) === false) decoder.pause();
    });
    decoder?.on("drain", () => this.#request?.resume());
    decoder?.on("end", () => {
      if (!this.#isOver) this.#transfer?.end();
    });
    decoder?.on("error", () => {
      this.abort();
      this.fail(INVALID_RESPONSE, true);
    });
    return decoder !== undefined;
  }

  onError({ kind, detail }: UpstreamFailure): void {
    logFields(this.context.exchange.record).set("error", detail);
    this.fail(UNREACHABLE[kind], true);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get isRejected(): boolean {
    return this.context.guard?.run.error !== undefined;
  }

  contentBegan(): void {
    this.#firstContent ??= performance.now();
  }

  keepPace(isReady: boolean): boolean {
    this.#wasHeldUp ||= !isReady;
    return isReady;
  }

  resume(): void {
    this.#decoder?.resume();
    this.#request?.resume();
  }

  abort(): void {
    this.#request?.abort();
  }

  respond(facts: ResponseFacts, error?: LlmError): void {
    const head = this.#head ?? NO_HEAD;
    const isClientSlow = this.#wasHeldUp && error === UNREACHABLE.timeout;
    const firstContent = this.#firstContent;
    const pieces = this.#transfer?.pieces ?? 0;
    this.#finish({ kind: "responded", facts, head, error, isClientSlow, firstContent, pieces });
  }

  reject(error: LlmError, facts: ResponseFacts): void {
    const { exchange, errors, headers } = this.context;
    exchange.record.reason = rejectionReason(error);
    this.respond(facts, error);
    respondError(exchange, error, errors, headers.list);
  }

  fail(error: LlmError, mayTryNext: boolean, isFromProvider = false): void {
    if (this.#isOver) return;
    const { exchange } = this.context;
    this.#transfer?.stop();
    if (!exchange.headersSent) {
      const head = this.#head && withRetryAfter(this.#head, error);
      this.#finish({ kind: "failed", error, isFromProvider, head, mayTryNext });
      return;
    }
    const rejected = this.context.guard?.run.error;
    exchange.record.reason = rejected === undefined ? "UpstreamFailure" : rejectionReason(rejected);
    this.respond(this.#transfer?.facts ?? {}, error);
    if (this.#transfer === undefined) exchange.abort();
    else this.#transfer.abortWith(error);
  }

  #timeOut(): void {
    this.#request?.abort("timeout");
    this.fail(UNREACHABLE.timeout, true);
  }

  #finish(outcome: AttemptOutcome): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#transfer?.stop();
    this.#decoder?.destroy();
    this.context.settle(outcome);
  }
}

/** Head to report for a response that has none. */
const NO_HEAD = new ReceivedHead(200, []);
