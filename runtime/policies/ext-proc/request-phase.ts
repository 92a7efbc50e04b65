import type { JsonObject } from "../../cel/variables.ts";
import type {
  CommonResponse,
  HeaderMutation,
} from "../../grpc/gen/envoy/service/ext_proc/v3/external_processor_pb.ts";
import { type BodySource, isBodySource } from "../../http/body/body.ts";
import {
  type BodyBeginning,
  readBeginning,
  readWhole,
  replaceWhole,
} from "../../http/buffer-body.ts";
import type { Exchange } from "../../http/exchange.ts";
import { refuse } from "../../http/refuse.ts";
import type { ServerReply } from "../envoy/server-reply.ts";
import { mutatedFields } from "./mutated-response.ts";
import { PendingPieces } from "./pending-pieces.ts";
import { ProcessedBody } from "./processed-body.ts";
import type { BodyMode } from "./processing-modes.ts";
import {
  bodyOf,
  bodyPiece,
  isLastPiece,
  mutateRequest,
  replacedBody,
  requestHead,
  trailersMessage,
} from "./processor-messages.ts";
import type { ProcessingPhase, ProcessorSession } from "./processor-session.ts";
import { TailedBody } from "./tailed-body.ts";

/** Processes a request with a processor. */
export class RequestPhase implements ProcessingPhase {
  readonly #exchange: Exchange;
  readonly #session: ProcessorSession;
  readonly #maxBody: number;
  readonly #body: Uint8Array | BodySource | null;
  readonly #processed: ProcessedBody;
  readonly #pending = new PendingPieces();
  #mode: BodyMode;
  #waitsForHead = false;
  /** The body that was sent, in modes without streaming. */
  #sent: Pick<BodyBeginning, "replace"> | undefined;
  #resolve: ((continues: boolean) => void) | undefined;
  /** Whether the processor reads slowly. */
  #isBlocked = false;
  /** Whether the backend reads the processed body slowly. */
  #isBackendSlow = false;
  #hasAll = false;
  /** The body that is forwarded as it arrives; only its trailers go to the processor. */
  #tailed: TailedBody | undefined;
  /** Whether trailers have arrived that the processor receives after its pending responses. */
  #hasTrailers = false;
  #waitsForTrailers = false;
  /** The trailers that were sent to the processor. */
  #trailers: readonly string[] = [];
  #isFinished = false;
  #isBodyDone = false;
  /** Whether the backend has responded without reading the rest of the body. */
  #isDiscarded = false;

  constructor(exchange: Exchange, session: ProcessorSession, maxBody: number) {
    this.#exchange = exchange;
    this.#session = session;
    this.#maxBody = maxBody;
    this.#mode = session.modes.requestBody;
    const isBodiless = exchange.isTunnel || exchange.upgrade !== undefined;
    this.#body = isBodiless ? null : exchange.body;
    this.#processed = new ProcessedBody({
      pause: () => this.#pauseSource(),
      resume: () => this.#resumeSource(),
      discard: () => this.#discard(),
    });
    session.begin("request", this);
  }

  /**
   * Resolves to true if the request continues as the processor changed it; to false if its client has a response or has
   * disconnected.
   */
  run(attributes: JsonObject | undefined): Promise<boolean> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#waitsForHead = this.#session.modes.requestHeaders === "send";
      const head = requestHead(this.#exchange, this.#body === null, attributes);
      if (this.#waitsForHead) this.#session.send(head);
      // A processor may require the whole body before it responds to the head.
      if (this.#mode === "fullDuplex" && this.#body !== null) this.#stream(this.#body);
      else this.#session.setDue(this.#waitsForHead);
      if (!this.#waitsForHead) this.#proceed();
    });
  }

  onHeaders(response: CommonResponse | undefined): boolean {
    if (!this.#waitsForHead) return false;
    this.#waitsForHead = false;
    mutateRequest(this.#exchange, response);
    this.#mode = this.#session.modes.requestBody;
    const replaced = replacedBody(response);
    if (replaced !== undefined && this.#mode !== "fullDuplex") {
      this.#exchange.setRequestBody(replaced);
      this.#finish(true);
    } else {
      this.#proceed();
    }
    return true;
  }

  onBody(response: CommonResponse | undefined): boolean {
    if (this.#isDiscarded) return true;
    switch (this.#mode) {
      case "fullDuplex":
        return this.#takeOwn(response);
      case "streamed":
        return this.#takePending(response);
      default:
        return this.#takeWhole(response);
    }
  }

  onTrailers(changes: HeaderMutation | undefined): boolean {
    if (this.#isDiscarded) return true;
    if (!this.#waitsForTrailers) return false;
    const changed = mutatedFields(this.#trailers, changes, true);
    this.#endTrailers(this.#exchange.requestTrailers?.passing(changed));
    return true;
  }

  onImmediate({ status, headers, body }: ServerReply): void {
    this.#exchange.record.reason = "ExtProc";
    this.#exchange.respond(status, headers, body);
    this.#abort();
  }

  onEnd(passes: boolean): void {
    if (this.#isFinished && !this.#isStreaming && !this.#waitsForTrailers) return;
    if (!passes) this.#fail();
    else if (this.#waitsForTrailers) this.#endTrailers(this.#trailers);
    else this.#finish(true);
  }

  onRoom(): void {
    this.#isBlocked = false;
    this.#resumeFlow();
  }

  /** Whether the body still passes through the processor. */
  get #isStreaming(): boolean {
    const isStreamed = this.#mode === "fullDuplex" || this.#mode === "streamed";
    return isStreamed && this.#body !== null && !this.#isBodyDone;
  }

  /** Continues after the head: with the body, or with the request. */
  #proceed(): void {
    const body = this.#body;
    if (body === null || this.#mode === "none") {
      this.#passOn();
    } else if (this.#mode === "buffered" || this.#mode === "bufferedPartial") {
      this.#session.setDue(false);
      void this.#sendHeld(this.#mode);
    } else {
      this.#exchange.setRequestBody(this.#processed);
      this.#finish(true);
      if (this.#mode === "streamed") this.#stream(body);
      else this.#updateDeadline();
    }
  }

  async #sendHeld(mode: "buffered" | "bufferedPartial"): Promise<void> {
    const beginning = await (mode === "buffered"
      ? this.#readWhole()
      : readBeginning(this.#exchange, this.#maxBody));
    if (beginning === undefined) {
      this.#session.cancel();
      this.#finish(false);
      return;
    }
    const { bytes, isPart } = beginning;
    this.#sent = beginning;
    this.#session.hasBody ||= bytes.length > 0;
    const { body } = this.#exchange;
    this.#session.send(bodyPiece("requestBody", bytes, !isPart && !this.#showsTrailersOf(body)));
    this.#session.setDue(true);
  }

  async #readWhole(): Promise<BodyBeginning | undefined> {
    const bytes = await readWhole(this.#exchange, this.#maxBody);
    const replace = (other: Uint8Array) => replaceWhole(this.#exchange, other);
    return bytes && { bytes, isPart: false, replace };
  }

  #stream(body: Uint8Array | BodySource): void {
    this.#session.hasBody = true;
    if (body instanceof Uint8Array) {
      this.#sendPiece(body, true);
      return;
    }
    // If the length is known, the last piece is marked, so that the processor gets no empty one at the end.
    let left = this.#mode === "streamed" ? (body.length ?? Infinity) : Infinity;
    body.flow({
      onData: (piece) => {
        left -= piece.length;
        this.#sendPiece(piece, left <= 0);
        if (this.#isHeldUp) body.pause();
      },
      onEnd: () => {
        if (!this.#showsTrailersOf(body)) {
          if (!this.#hasAll) this.#sendPiece(Buffer.alloc(0), true);
        } else if (!this.#isBodyDone) {
          this.#hasAll = true;
          this.#hasTrailers = true;
          if (this.#pending.isEmpty) this.#sendTrailers(body);
        }
      },
      onAbort: () => {
        this.#session.cancel();
        this.#abort();
      },
    });
  }

  #sendPiece(bytes: Uint8Array, isLast: boolean): void {
    if (this.#isDiscarded) return;
    if (this.#mode === "streamed") this.#pending.push({ bytes, isLast });
    this.#isBlocked = !this.#session.send(bodyPiece("requestBody", bytes, isLast));
    this.#hasAll = isLast;
    this.#updateDeadline();
  }

  /** Forwards a piece that the processor sends on its own. */
  #takeOwn(response: CommonResponse | undefined): boolean {
    if (this.#body === null || this.#isBodyDone) return false;
    // With trailers, the body ends with their response.
    const isLast = isLastPiece(response) && !this.#waitsForTrailers;
    this.#pass(bodyOf(response) ?? Buffer.alloc(0), isLast);
    return true;
  }

  /** Forwards the piece that the processor has responded to. */
  #takePending(response: CommonResponse | undefined): boolean {
    const piece = this.#pending.take(response);
    if (piece === undefined) return false;
    this.#pass(piece.bytes, piece.isLast);
    this.#resumeFlow();
    const isDue = this.#hasTrailers && this.#pending.isEmpty;
    if (isDue && isBodySource(this.#body)) this.#sendTrailers(this.#body);
    return true;
  }

  /** Applies the response to the body or its beginning. */
  #takeWhole(response: CommonResponse | undefined): boolean {
    if (this.#sent === undefined) return false;
    mutateRequest(this.#exchange, response);
    const bytes = bodyOf(response);
    if (bytes !== undefined) this.#sent.replace(bytes);
    this.#sent = undefined;
    this.#passOn();
    return true;
  }

  /** Forwards the body; its trailers follow once the processor has seen them. */
  #passOn(): void {
    const { body, requestTrailers } = this.#exchange;
    const mayTrail = requestTrailers !== undefined && this.#body !== null && isBodySource(body);
    if (mayTrail && body.length === undefined && this.#session.modes.requestTrailers === "send") {
      this.#tailed = new TailedBody(body, {
        ended: () => this.#tailEnded(body),
        discarded: () => this.#discardTail(),
      });
      this.#exchange.setRequestBody(this.#tailed);
    }
    this.#finish(true);
  }

  #tailEnded(body: BodySource): void {
    if (this.#showsTrailersOf(body)) this.#sendTrailers(body);
    else if (this.#session.isBroken && hasTrailers(body)) this.#fail();
    else this.#endTrailers(body.trailers);
  }

  #discardTail(): void {
    this.#isDiscarded = true;
    this.#waitsForTrailers = false;
    this.#session.finish("request");
  }

  #showsTrailersOf(body: Uint8Array | BodySource | null): boolean {
    const { isOver, modes } = this.#session;
    return hasTrailers(body) && modes.requestTrailers === "send" && !isOver;
  }

  #sendTrailers({ trailers = [] }: BodySource): void {
    this.#hasTrailers = false;
    this.#waitsForTrailers = true;
    this.#trailers = trailers;
    this.#session.send(trailersMessage("requestTrailers", trailers));
    this.#session.setDue(true);
  }

  /** Ends the request with these trailers. */
  #endTrailers(trailers: readonly string[] | undefined): void {
    this.#waitsForTrailers = false;
    this.#isBodyDone = true;
    this.#session.setDue(false);
    this.#tailed?.pass(trailers);
    this.#processed.finish("onEnd", trailers);
    this.#session.finish("request");
  }

  #pass(bytes: Uint8Array, isLast: boolean): void {
    this.#processed.push(Buffer.from(bytes));
    this.#isBodyDone = isLast;
    if (isLast)
      this.#processed.finish("onEnd", isBodySource(this.#body) ? this.#body.trailers : []);
    this.#updateDeadline();
    if (isLast) this.#session.finish("request");
  }

  /** Stops reading from the client. Responses of the processor may still have to be read. */
  #pauseSource(): void {
    this.#isBackendSlow = true;
    this.#session.pauseRequest();
    if (isBodySource(this.#body)) this.#body.pause();
  }

  #resumeSource(): void {
    this.#isBackendSlow = false;
    this.#session.resume();
    this.#resumeFlow();
  }

  /** Discards the rest of the body; the processor may still receive the response. */
  #discard(): void {
    this.#isDiscarded = true;
    this.#isBodyDone = true;
    this.#waitsForTrailers = false;
    if (isBodySource(this.#body)) this.#body.discard();
    this.#session.resume();
    this.#session.finish("request");
  }

  get #isHeldUp(): boolean {
    return this.#isBlocked || this.#isBackendSlow || this.#pending.isFull;
  }

  #resumeFlow(): void {
    if (!this.#isStreaming) return;
    this.#updateDeadline();
    if (!this.#isHeldUp && isBodySource(this.#body)) this.#body.resume();
  }

  /** Updates whether the processor owes a response; in full duplex, once it has everything or reads slowly. */
  #updateDeadline(): void {
    const owesOwn = (this.#hasAll || this.#isBlocked) && !this.#isBodyDone;
    const owesPiece = !this.#pending.isEmpty || this.#waitsForTrailers;
    this.#session.setDue(this.#mode === "streamed" ? owesPiece : owesOwn);
  }

  #finish(continues: boolean): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    this.#session.setDue(false);
    if (!this.#isStreaming && this.#tailed === undefined) this.#session.finish("request");
    this.#resolve?.(continues);
  }

  #fail(): void {
    refuse(this.#exchange, 500, "ExtProc", "external processing failed");
    this.#abort();
  }

  /** Aborts the request. */
  #abort(): void {
    this.#waitsForTrailers = false;
    this.#finish(false);
    this.#processed.finish("onAbort");
    this.#tailed?.abort();
  }
}

function hasTrailers(body: Uint8Array | BodySource | null): boolean {
  return isBodySource(body) && (body.trailers ?? []).length > 0;
}
