import type { JsonObject } from "../../cel/variables.ts";
import type { ProcessingMode } from "../../grpc/gen/envoy/extensions/filters/http/ext_proc/v3/processing_mode_pb.ts";
import type { CommonResponse } from "../../grpc/gen/envoy/service/ext_proc/v3/external_processor_pb.ts";
import type { BodySource } from "../../http/body/body.ts";
import { readWhole } from "../../http/buffer-body.ts";
import type { Exchange } from "../../http/exchange.ts";
import { refuse } from "../../http/refuse.ts";
import type { ImmediateReply } from "./immediate-reply.ts";
import { ProcessedBody } from "./processed-body.ts";
import {
  type BodyMode,
  bodyModeNumber,
  bodyModeOf,
  bodyOf,
  bodyPiece,
  isLastPiece,
  mutateRequest,
  requestHead,
} from "./processor-messages.ts";
import type { ProcessingPhase, ProcessorSession } from "./processor-session.ts";

/** How a request is processed. */
export interface RequestModes {
  readonly sendsHeaders: boolean;
  readonly body: BodyMode;
  /** The mode of the response's body, which the first message says too. */
  readonly responseBody: BodyMode;
  /** The processor may change the modes. */
  readonly allowsOverride: boolean;
  /** The most bytes of a body that it gets whole. */
  readonly maxBody: number;
}

/** What a processor makes of a request. */
export class RequestPhase implements ProcessingPhase {
  readonly #exchange: Exchange;
  readonly #session: ProcessorSession;
  readonly #modes: RequestModes;
  readonly #body: Uint8Array | BodySource | null;
  readonly #processed: ProcessedBody;
  #mode: BodyMode;
  #resolve: ((goesOn: boolean) => void) | undefined;
  #isBlocked = false;
  #hasAll = false;
  #isFinished = false;
  #isBodyDone = false;

  constructor(exchange: Exchange, session: ProcessorSession, modes: RequestModes) {
    this.#exchange = exchange;
    this.#session = session;
    this.#modes = modes;
    this.#mode = modes.body;
    const isBodiless = exchange.isTunnel || exchange.upgrade !== undefined;
    this.#body = isBodiless ? null : exchange.body;
    this.#processed = new ProcessedBody({
      pause: () => session.pauseRequest(),
      resume: () => session.resume(),
      discard: () => session.cancel(),
    });
    session.begin("request", this);
  }

  /** True: the request goes on, as the processor changed it; else its client has a response, or has left. */
  run(attributes: JsonObject | undefined): Promise<boolean> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
      const { sendsHeaders, responseBody } = this.#modes;
      const protocolConfig = {
        requestBodyMode: bodyModeNumber[this.#mode],
        responseBodyMode: bodyModeNumber[responseBody],
      };
      const head = requestHead(this.#exchange, this.#body === null, attributes);
      if (sendsHeaders) this.#session.send({ ...head, protocolConfig });
      if (this.#mode === "fullDuplex" && this.#body !== null) this.#stream(this.#body);
      else this.#session.owes(sendsHeaders);
      if (!sendsHeaders) this.#proceed();
    });
  }

  onHeaders(response: CommonResponse | undefined, override: ProcessingMode | undefined): void {
    mutateRequest(this.#exchange, response);
    const { allowsOverride } = this.#modes;
    if (allowsOverride && override !== undefined && this.#mode !== "fullDuplex") {
      const mode = bodyModeOf(override.requestBodyMode);
      if (mode !== undefined && mode !== "fullDuplex") this.#mode = mode;
    }
    this.#proceed();
  }

  onBody(response: CommonResponse | undefined): void {
    if (this.#mode === "fullDuplex") {
      const piece = bodyOf(response);
      if (piece !== undefined) this.#processed.push(Buffer.from(piece));
      if (isLastPiece(response)) {
        this.#isBodyDone = true;
        this.#processed.finish("onEnd");
      }
      this.#note();
      return;
    }
    mutateRequest(this.#exchange, response);
    const bytes = bodyOf(response);
    if (bytes !== undefined) this.#exchange.setRequestBody(bytes);
    this.#finish(true);
  }

  onImmediate({ status, headers, body }: ImmediateReply): void {
    this.#exchange.record.reason = "ExtProc";
    this.#exchange.respond(status, headers, body);
    this.#finish(false);
    this.#processed.finish("onAbort");
  }

  onEnd(passes: boolean): void {
    const isStreaming = this.#mode === "fullDuplex" && this.#body !== null && !this.#isBodyDone;
    if (this.#isFinished && !isStreaming) return;
    if (passes) {
      this.#finish(true);
      return;
    }
    refuse(this.#exchange, 500, "ExtProc", "external processing failed");
    this.#finish(false);
    this.#processed.finish("onAbort");
  }

  onRoom(): void {
    this.#isBlocked = false;
    this.#note();
    if (this.#body !== null && "flow" in this.#body) this.#body.resume();
  }

  /** The head is done: the body follows, or the request goes on. */
  #proceed(): void {
    const body = this.#body;
    if (body === null || this.#mode === "none") {
      this.#finish(true);
    } else if (this.#mode === "buffered") {
      this.#session.owes(false);
      void this.#sendWhole();
    } else {
      this.#exchange.setRequestBody(this.#processed);
      this.#finish(true);
      this.#note();
    }
  }

  async #sendWhole(): Promise<void> {
    const bytes = await readWhole(this.#exchange, this.#modes.maxBody);
    if (bytes === undefined) {
      this.#session.cancel();
      this.#finish(false);
      return;
    }
    this.#session.hasBody ||= bytes.length > 0;
    this.#session.send(bodyPiece("requestBody", bytes, true));
    this.#session.owes(true);
  }

  /** The body goes while the head is looked at: a processor may want all of it before it says anything. */
  #stream(body: Uint8Array | BodySource): void {
    this.#session.hasBody = true;
    if (body instanceof Uint8Array) {
      this.#session.send(bodyPiece("requestBody", body, true));
      this.#hasAll = true;
      this.#note();
      return;
    }
    body.flow({
      onData: (piece) => {
        this.#isBlocked = !this.#session.send(bodyPiece("requestBody", piece, false));
        if (!this.#isBlocked) return;
        body.pause();
        this.#note();
      },
      onEnd: () => {
        this.#session.send(bodyPiece("requestBody", Buffer.alloc(0), true));
        this.#hasAll = true;
        this.#note();
      },
      onAbort: () => {
        this.#session.cancel();
        this.#finish(false);
        this.#processed.finish("onAbort");
      },
    });
  }

  /** It owes a response when it has all there is, or takes no more. */
  #note(): void {
    this.#session.owes((this.#hasAll || this.#isBlocked) && !this.#isBodyDone);
  }

  #finish(goesOn: boolean): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    this.#session.owes(false);
    this.#resolve?.(goesOn);
  }
}
