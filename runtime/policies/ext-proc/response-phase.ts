import type { JsonObject, ResponseVariables } from "../../cel/variables.ts";
import type {
  CommonResponse,
  HeaderMutation,
} from "../../grpc/gen/envoy/service/ext_proc/v3/external_processor_pb.ts";
import type { Exchange } from "../../http/exchange.ts";
import { ReceivedResponse } from "../../http/received-response.ts";
import type { ResponseSink } from "../../http/response-sink.ts";
import type { ServerReply } from "../envoy/server-reply.ts";
import { HeldBody } from "./held-body.ts";
import { mutatedHead } from "./mutated-response.ts";
import { PendingPieces } from "./pending-pieces.ts";
import type { BodyMode } from "./processing-modes.ts";
import {
  bodyOf,
  bodyPiece,
  isLastPiece,
  replacedBody,
  responseHead,
} from "./processor-messages.ts";
import type { ProcessingPhase, ProcessorSession } from "./processor-session.ts";
import { ResponseTrailers } from "./response-trailers.ts";

/** Settings for a response. */
export interface ShownResponse {
  /** Maximum number of bytes of the body in one piece. */
  readonly maxBody: number;
  /** Returns the attributes of the message with the head. */
  readonly attributes: ((response: ResponseVariables) => JsonObject) | undefined;
  /** Returns further objects by namespace for the messages about the response. */
  readonly metadata: (() => JsonObject) | undefined;
}

interface ResponseHead {
  readonly status: number;
  readonly headers: readonly string[];
  readonly length: number | undefined;
}

/** Processes a response of the backend with a processor; responses of the gateway itself are not processed. */
export class ResponsePhase implements ResponseSink, ProcessingPhase {
  readonly #exchange: Exchange;
  readonly #session: ProcessorSession;
  readonly #next: ResponseSink;
  readonly #shown: ShownResponse;
  #mode: BodyMode;
  #head: ResponseHead | undefined;
  /** The part that is being processed; `passing` forwards everything, `over` discards it. */
  #state: "idle" | "head" | "body" | "passing" | "trailers" | "over" = "idle";
  #isBodiless = false;
  #hasEnded = false;
  /** Number of announced bytes of the body that are still missing. */
  #left = Infinity;
  #hasSentLast = false;
  readonly #trailers: ResponseTrailers;
  #isBlocked = false;
  readonly #held: HeldBody;
  readonly #pending = new PendingPieces();
  #drained: (() => void) | undefined;

  constructor(
    exchange: Exchange,
    session: ProcessorSession,
    next: ResponseSink,
    shown: ShownResponse,
  ) {
    this.#exchange = exchange;
    this.#session = session;
    this.#next = next;
    this.#shown = shown;
    this.#mode = session.modes.responseBody;
    this.#held = new HeldBody(exchange.newBuffer(), shown.maxBody);
    this.#trailers = new ResponseTrailers(session);
    next.onDrain(() => {
      session.resume();
      if (this.#state === "passing") this.#drained?.();
    });
  }

  respond(status: number, headers: readonly string[], body: string | Uint8Array): void {
    const bytes = Buffer.from(body);
    this.writeHead(status, headers, bytes.length);
    if (bytes.length > 0) this.write(bytes);
    this.end();
  }

  writeHead(status: number, headers: readonly string[], length: number | undefined): void {
    this.#head = { status, headers, length };
    this.#left = length ?? Infinity;
    if (this.#exchange.record.reason !== undefined || this.#session.isOver) {
      if (this.#exchange.record.reason === undefined && this.#session.isBroken) this.#fail();
      else this.#pass();
      return;
    }
    this.#session.begin("response", this);
    this.#session.addMetadata(this.#shown.metadata?.() ?? {});
    const { responseHeaders, responseBody } = this.#session.modes;
    const isHead = this.#exchange.original.method === "HEAD";
    this.#isBodiless = isHead || length === 0 || status === 204 || status === 304;
    this.#mode = responseBody;
    if (responseHeaders === "skip") {
      this.#proceed();
      return;
    }
    this.#state = "head";
    const more = this.#shown.attributes?.(new ReceivedResponse(status, headers));
    this.#session.send(responseHead(status, headers, this.#isBodiless, more));
    this.#updateDeadline();
  }

  write(chunk: string | Uint8Array): boolean {
    switch (this.#state) {
      case "passing":
        return this.#next.write(chunk);
      case "over":
      case "idle":
        return true;
      default:
        return this.#take(Buffer.from(chunk));
    }
  }

  end(trailers?: readonly string[]): void {
    this.#hasEnded = true;
    this.#trailers.set(trailers);
    if (this.#state === "passing") this.#endNext();
    else if (this.#state === "body" || this.#mode === "fullDuplex") this.#sendEnd();
  }

  onDrain(listener: () => void): void {
    this.#drained = listener;
  }

  withdraw(): void {
    this.#state = "idle";
    this.#hasEnded = false;
    this.#held.release();
    this.#session.isBroken = true;
    this.#session.cancel();
    this.#next.withdraw();
  }

  leave(): void {
    this.#session.finish("response");
    this.#next.leave();
  }

  onHeaders(response: CommonResponse | undefined): boolean {
    if (this.#state !== "head" || this.#head === undefined) return false;
    this.#head = mutatedHead(this.#head, response?.headerMutation);
    this.#mode = this.#session.modes.responseBody;
    const replaced = replacedBody(response);
    if (replaced !== undefined && this.#mode !== "fullDuplex") {
      this.#finish();
      this.#next.respond(this.#head.status, this.#head.headers, replaced);
    } else this.#proceed();
    return true;
  }

  onBody(response: CommonResponse | undefined): boolean {
    if (this.#state !== "body" || this.#head === undefined) return false;
    switch (this.#mode) {
      case "fullDuplex":
        this.#passPiece(bodyOf(response) ?? Buffer.alloc(0), isLastPiece(response));
        return true;
      case "streamed":
        return this.#takePending(response);
      default:
        return this.#takeWhole(this.#head, response);
    }
  }

  onTrailers(changes: HeaderMutation | undefined): boolean {
    if (!this.#trailers.areSent || this.#state === "head") return false;
    this.#finish();
    this.#next.end(this.#trailers.changed(changes));
    return true;
  }

  onImmediate({ status, headers, body }: ServerReply): void {
    this.#exchange.record.reason = "ExtProc";
    this.#replace(status, headers, body);
  }

  onEnd(passes: boolean): void {
    if (!this.#isProcessing) return;
    if (passes && this.#state === "head") this.#pass();
    else if (passes && this.#state === "trailers") this.#next.end(this.#trailers.fields);
    else this.#fail();
  }

  onRoom(): void {
    this.#isBlocked = false;
    this.#updateDeadline();
    if (!this.#pending.isFull) this.#drained?.();
  }

  #take(chunk: Buffer): boolean {
    if (this.#mode === "fullDuplex") {
      this.#sendPiece(chunk, false);
      return !this.#isBlocked;
    }
    this.#left -= chunk.length;
    if (this.#mode === "streamed" && this.#state === "body") {
      this.#sendPiece(chunk, this.#left <= 0);
      return !this.#isBlocked && !this.#pending.isFull;
    }
    if (!this.#held.push(chunk) || (this.#held.isTooLong && this.#mode === "buffered")) {
      this.#session.cancel();
      this.#fail();
      return true;
    }
    if (this.#state === "body") this.#sendBeginning();
    // Until the head is done, the mode of the body is unknown; bytes after the sent beginning wait for its response.
    return this.#state === "body" && !this.#held.isShown;
  }

  /** Whether the processor has a part of the response. */
  get #isProcessing(): boolean {
    return this.#state === "head" || this.#state === "body" || this.#state === "trailers";
  }

  /** Whether the head is sent before the body is complete. */
  get #isStreamed(): boolean {
    return this.#mode === "fullDuplex" || this.#mode === "streamed";
  }

  /** Continues after the head. */
  #proceed(): void {
    if (this.#head === undefined) return;
    const { status, headers } = this.#head;
    if (this.#mode === "none" || this.#isBodiless) {
      this.#pass();
      return;
    }
    this.#state = "body";
    if (this.#isStreamed) this.#next.writeHead(status, headers, undefined);
    if (this.#mode === "streamed" && !this.#held.isEmpty) {
      this.#sendPiece(this.#held.release(), this.#hasEnded || this.#left <= 0);
      this.#resumeFlow();
    } else if (this.#mode === "fullDuplex") this.#updateDeadline();
    else if (this.#hasEnded) this.#sendEnd();
    else this.#resumeFlow();
  }

  #resumeFlow(): void {
    if (this.#mode === "bufferedPartial") this.#sendBeginning();
    this.#updateDeadline();
    if (!this.#held.isShown && !this.#isBlocked && !this.#pending.isFull) this.#drained?.();
  }

  #sendEnd(): void {
    if (this.#isBodiless) return;
    switch (this.#mode) {
      case "fullDuplex":
        if (this.#trailers.mustBeSent) this.#sendTrailers();
        else this.#sendPiece(Buffer.alloc(0), true);
        break;
      case "streamed":
        if (this.#hasSentLast) break;
        if (!this.#trailers.mustBeSent) this.#sendPiece(Buffer.alloc(0), true);
        else if (this.#pending.isEmpty) this.#endNext();
        break;
      default:
        this.#sendHeld(!this.#held.isTooLong);
    }
  }

  /** Sends the beginning as soon as it is complete. */
  #sendBeginning(): void {
    if (this.#mode === "bufferedPartial" && this.#held.isTooLong) this.#sendHeld(false);
  }

  #sendHeld(isWhole: boolean): void {
    if (this.#held.isShown) return;
    if (!isWhole && this.#mode === "buffered") {
      this.#session.cancel();
      this.#fail();
      return;
    }
    const bytes = this.#held.show();
    this.#session.hasBody ||= bytes.length > 0;
    this.#session.send(bodyPiece("responseBody", bytes, isWhole && !this.#trailers.mustBeSent));
    this.#updateDeadline();
  }

  #sendPiece(bytes: Buffer, isLast: boolean): void {
    this.#session.hasBody ||= bytes.length > 0;
    if (this.#mode === "streamed") this.#pending.push({ bytes, isLast });
    this.#hasSentLast = isLast;
    this.#isBlocked = !this.#session.send(bodyPiece("responseBody", bytes, isLast));
    this.#updateDeadline();
  }

  #passPiece(bytes: Uint8Array, isLast: boolean): void {
    if (bytes.length > 0 && !this.#next.write(bytes)) this.#session.pause();
    if (!isLast || this.#trailers.areSent) {
      this.#updateDeadline();
      return;
    }
    // Trailers may follow the last announced piece.
    this.#state = "passing";
    if (this.#hasEnded) this.#endNext();
  }

  /** Forwards the piece that the processor has responded to. */
  #takePending(response: CommonResponse | undefined): boolean {
    const piece = this.#pending.take(response);
    if (piece === undefined) return false;
    this.#passPiece(piece.bytes, piece.isLast);
    if (piece.isLast) return true;
    this.#resumeFlow();
    if (this.#hasEnded && !this.#hasSentLast && this.#pending.isEmpty) this.#endNext();
    return true;
  }

  /** Applies the response to the body or its beginning. */
  #takeWhole(head: ResponseHead, response: CommonResponse | undefined): boolean {
    if (!this.#held.isShown) return false;
    const { status, headers } = mutatedHead(head, response?.headerMutation);
    const bytes = this.#held.changed(bodyOf(response));
    if (this.#hasEnded && this.#trailers.fields === undefined) {
      this.#finish();
      this.#next.respond(status, headers, bytes);
      return true;
    }
    this.#state = "passing";
    this.#next.writeHead(status, headers, undefined);
    this.#next.write(bytes);
    if (this.#hasEnded) this.#endNext();
    else this.#drained?.();
    return true;
  }

  /** Forwards the response unchanged. */
  #pass(): void {
    this.#state = "passing";
    const { status, headers, length } = this.#head ?? { status: 502, headers: [], length: 0 };
    this.#next.writeHead(status, headers, length);
    if (!this.#held.isEmpty) this.#next.write(this.#held.bytes());
    this.#updateDeadline();
    if (this.#hasEnded) this.#endNext();
    else this.#drained?.();
  }

  /** Ends the response; its trailers are processed first. */
  #endNext(): void {
    if (this.#trailers.mustBeSent) {
      this.#state = "trailers";
      this.#sendTrailers();
    } else if (this.#session.isBroken && this.#trailers.arePresent) this.#fail();
    else {
      this.#finish();
      this.#next.end(this.#trailers.fields);
    }
  }

  #sendTrailers(): void {
    this.#trailers.send();
    this.#updateDeadline();
  }

  #fail(): void {
    this.#exchange.record.reason = "ExtProc";
    this.#replace(500, ["content-type", "text/plain; charset=utf-8"], "external processing failed");
  }

  #replace(status: number, headers: readonly string[], body: string | Uint8Array): void {
    const isGone =
      this.#state === "body" ? this.#isStreamed : this.#state !== "idle" && this.#state !== "head";
    this.#state = "over";
    if (isGone) this.#exchange.abort();
    else this.#next.respond(status, headers, body);
  }

  #finish(): void {
    this.#state = "over";
    this.#session.finish("response");
  }

  /** Updates whether the processor owes a response; in full duplex, once it has everything or reads slowly. */
  #updateDeadline(): void {
    if (!this.#isProcessing || this.#state === "trailers") {
      this.#session.setDue(this.#state === "trailers");
      return;
    }
    const hasAll = this.#hasEnded || this.#isBlocked || this.#isBodiless;
    switch (this.#mode) {
      case "fullDuplex":
        this.#session.setDue(hasAll);
        break;
      case "streamed":
        this.#session.setDue(this.#state === "head" || !this.#pending.isEmpty);
        break;
      default:
        this.#session.setDue(this.#state === "head" || this.#held.isShown);
    }
  }
}
