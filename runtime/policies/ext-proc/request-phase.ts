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

/** What a processor makes of a request. */
export class RequestPhase implements ProcessingPhase {
  readonly #exchange: Exchange;
  readonly #session: ProcessorSession;
  readonly #maxBody: number;
  readonly #body: Uint8Array | BodySource | null;
  readonly #processed: ProcessedBody;
  readonly #pending = new PendingPieces();
  #mode: BodyMode;
  #waitsForHead = false;
  /** What the processor has of a body that is not streamed. */
  #sent: Pick<BodyBeginning, "replace"> | undefined;
  #resolve: ((goesOn: boolean) => void) | undefined;
  /** The processor takes no more. */
  #isBlocked = false;
  /** The backend takes no more of what the processor made of the body. */
  #isTakenSlowly = false;
  #hasAll = false;
  /** The body that goes on as it comes; its trailers go to the processor first. */
  #tailed: TailedBody | undefined;
  /** Trailers have come, and the processor gets them behind what it owes responses to. */
  #hasTrailers = false;
  #waitsForTrailers = false;
  /** Those that the processor has. */
  #trailers: readonly string[] = [];
  #isFinished = false;
  #isBodyDone = false;
  /** The backend has responded without the rest of the body. */
  #isDiscarded = false;

  constructor(exchange: Exchange, session: ProcessorSession, maxBody: number) {
    this.#exchange = exchange;
    this.#session = session;
    this.#maxBody = maxBody;
    this.#mode = session.modes.requestBody;
    const isBodiless = exchange.isTunnel || exchange.upgrade !== undefined;
    this.#body = isBodiless ? null : exchange.body;
    this.#processed = new ProcessedBody({
      pause: () => this.#holdUp(),
      resume: () => this.#letGo(),
      discard: () => this.#discard(),
    });
    session.begin("request", this);
  }

  /** True: the request goes on, as the processor changed it; else its client has a response, or has left. */
  run(attributes: JsonObject | undefined): Promise<boolean> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#waitsForHead = this.#session.modes.requestHeaders === "send";
      const head = requestHead(this.#exchange, this.#body === null, attributes);
      if (this.#waitsForHead) this.#session.send(head);
      // A processor may want all of the body before it says anything of the head.
      if (this.#mode === "fullDuplex" && this.#body !== null) this.#stream(this.#body);
      else this.#session.owes(this.#waitsForHead);
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
    this.#breakOff();
  }

  onEnd(passes: boolean): void {
    if (this.#isFinished && !this.#isStreaming && !this.#waitsForTrailers) return;
    if (!passes) this.#fail();
    else if (this.#waitsForTrailers) this.#endTrailers(this.#trailers);
    else this.#finish(true);
  }

  onRoom(): void {
    this.#isBlocked = false;
    this.#flowOn();
  }

  /** The body goes through the processor while the request is under way. */
  get #isStreaming(): boolean {
    const isStreamed = this.#mode === "fullDuplex" || this.#mode === "streamed";
    return isStreamed && this.#body !== null && !this.#isBodyDone;
  }

  /** The head is done: the body follows, or the request goes on. */
  #proceed(): void {
    const body = this.#body;
    if (body === null || this.#mode === "none") {
      this.#passOn();
    } else if (this.#mode === "buffered" || this.#mode === "bufferedPartial") {
      this.#session.owes(false);
      void this.#sendHeld(this.#mode);
    } else {
      this.#exchange.setRequestBody(this.#processed);
      this.#finish(true);
      if (this.#mode === "streamed") this.#stream(body);
      else this.#note();
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
    this.#session.owes(true);
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
    // A processor that looks at each piece by itself gets no empty one where it can be known which is the last.
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
        this.#breakOff();
      },
    });
  }

  #sendPiece(bytes: Uint8Array, isLast: boolean): void {
    if (this.#isDiscarded) return;
    if (this.#mode === "streamed") this.#pending.push({ bytes, isLast });
    this.#isBlocked = !this.#session.send(bodyPiece("requestBody", bytes, isLast));
    this.#hasAll = isLast;
    this.#note();
  }

  /** A piece of the processor's own. */
  #takeOwn(response: CommonResponse | undefined): boolean {
    if (this.#body === null || this.#isBodyDone) return false;
    // Its end is that of the trailers where it has them.
    const isLast = isLastPiece(response) && !this.#waitsForTrailers;
    this.#pass(bodyOf(response) ?? Buffer.alloc(0), isLast);
    return true;
  }

  /** What became of a piece that was sent. */
  #takePending(response: CommonResponse | undefined): boolean {
    const piece = this.#pending.take(response);
    if (piece === undefined) return false;
    this.#pass(piece.bytes, piece.isLast);
    this.#flowOn();
    const isDue = this.#hasTrailers && this.#pending.isEmpty;
    if (isDue && isBodySource(this.#body)) this.#sendTrailers(this.#body);
    return true;
  }

  /** What became of the body, or of its beginning. */
  #takeWhole(response: CommonResponse | undefined): boolean {
    if (this.#sent === undefined) return false;
    mutateRequest(this.#exchange, response);
    const bytes = bodyOf(response);
    if (bytes !== undefined) this.#sent.replace(bytes);
    this.#sent = undefined;
    this.#passOn();
    return true;
  }

  /** The body goes on, and behind it the trailers, once the processor has seen them. */
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
    this.#session.owes(true);
  }

  /** The request ends with these trailers. */
  #endTrailers(trailers: readonly string[] | undefined): void {
    this.#waitsForTrailers = false;
    this.#isBodyDone = true;
    this.#session.owes(false);
    this.#tailed?.pass(trailers);
    this.#processed.finish("onEnd", trailers);
    this.#session.finish("request");
  }

  #pass(bytes: Uint8Array, isLast: boolean): void {
    this.#processed.push(Buffer.from(bytes));
    this.#isBodyDone = isLast;
    if (isLast)
      this.#processed.finish("onEnd", isBodySource(this.#body) ? this.#body.trailers : []);
    this.#note();
    if (isLast) this.#session.finish("request");
  }

  /** Nothing more is asked of the client: the processor's responses to what it has may have to be taken all the same. */
  #holdUp(): void {
    this.#isTakenSlowly = true;
    this.#session.pauseRequest();
    if (isBodySource(this.#body)) this.#body.pause();
  }

  #letGo(): void {
    this.#isTakenSlowly = false;
    this.#session.resume();
    this.#flowOn();
  }

  /** Of the body nothing more is wanted; the processor may still have the response. */
  #discard(): void {
    this.#isDiscarded = true;
    this.#isBodyDone = true;
    this.#waitsForTrailers = false;
    if (isBodySource(this.#body)) this.#body.discard();
    this.#session.resume();
    this.#session.finish("request");
  }

  get #isHeldUp(): boolean {
    return this.#isBlocked || this.#isTakenSlowly || this.#pending.isFull;
  }

  #flowOn(): void {
    if (!this.#isStreaming) return;
    this.#note();
    if (!this.#isHeldUp && isBodySource(this.#body)) this.#body.resume();
  }

  /** It owes a response to a head or piece it has; of a body of its own, when it has all there is or takes no more. */
  #note(): void {
    const owesOwn = (this.#hasAll || this.#isBlocked) && !this.#isBodyDone;
    const owesPiece = !this.#pending.isEmpty || this.#waitsForTrailers;
    this.#session.owes(this.#mode === "streamed" ? owesPiece : owesOwn);
  }

  #finish(goesOn: boolean): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    this.#session.owes(false);
    if (!this.#isStreaming && this.#tailed === undefined) this.#session.finish("request");
    this.#resolve?.(goesOn);
  }

  #fail(): void {
    refuse(this.#exchange, 500, "ExtProc", "external processing failed");
    this.#breakOff();
  }

  /** Nothing of the request goes on any more. */
  #breakOff(): void {
    this.#waitsForTrailers = false;
    this.#finish(false);
    this.#processed.finish("onAbort");
    this.#tailed?.breakOff();
  }
}

function hasTrailers(body: Uint8Array | BodySource | null): boolean {
  return isBodySource(body) && (body.trailers ?? []).length > 0;
}
