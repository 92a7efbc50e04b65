import type { JsonObject } from "../../cel/variables.ts";
import type { GrpcChannel, MessageStream } from "../../grpc/channel.ts";
import type { ProcessingMode } from "../../grpc/gen/envoy/extensions/filters/http/ext_proc/v3/processing_mode_pb.ts";
import {
  type CommonResponse,
  ExternalProcessor,
  type HeaderMutation,
  type ProcessingRequestSchema,
  type ProcessingResponse,
} from "../../grpc/gen/envoy/service/ext_proc/v3/external_processor_pb.ts";
import { GrpcError } from "../../grpc/status.ts";
import { type Exchange, logFields } from "../../http/exchange.ts";
import { grpcStatus } from "../../http/grpc-status.ts";
import { type GrpcCallout, grpcCallout } from "../../telemetry/callout.ts";
import { replyFor, type ServerReply } from "../envoy/server-reply.ts";
import { type ImmediateReply, immediateReply } from "./immediate-reply.ts";
import { bodyModeNumber, overriddenModes, type ProcessingModes } from "./processing-modes.ts";
import type { ProcessorMessage } from "./processor-messages.ts";

/** Who hears of what a processor says about a request, or about its response. */
export interface ProcessingPhase {
  /** False: no head waits for a response. */
  onHeaders(response: CommonResponse | undefined): boolean;
  /** False: no piece of a body does. */
  onBody(response: CommonResponse | undefined): boolean;
  /** False: no trailers do. */
  onTrailers(changes: HeaderMutation | undefined): boolean;
  /** The processor responds to the client itself: nothing more comes. */
  onImmediate(reply: ServerReply): void;
  /** Nothing more comes. `passes`: what is not processed may go on as it is. */
  onEnd(passes: boolean): void;
  /** The processor can take more again. */
  onRoom(): void;
}

/** What a session is opened with. */
export interface SessionSettings extends ProcessingModes {
  readonly server: GrpcChannel;
  /** Milliseconds that a message may wait for its response, and the first one for a connection. */
  readonly deadline: number;
  /** Requests go on when the processor fails, as long as it has got nothing of their bodies. */
  readonly passesOnFailure: boolean;
  /** The processor may change the modes while it looks at heads. */
  readonly allowsModeOverride: boolean;
}

/** The stream of messages with a processor about one request and its response. */
export class ProcessorSession {
  readonly #exchange: Exchange;
  readonly #settings: SessionSettings;
  readonly #metadata: JsonObject;
  #stream: MessageStream<typeof ProcessingRequestSchema> | undefined;
  #request: ProcessingPhase | undefined;
  #response: ProcessingPhase | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isOwing = false;
  #isPaused = false;
  #callout: GrpcCallout | undefined;
  #hasBegun = false;
  readonly #isFinished = { request: false, response: false };
  /** What the processor gets, as far as it has not changed that. */
  modes: ProcessingModes;
  /** It has got bytes of a body, which can't be taken back. */
  hasBody = false;
  isOver = false;
  /** It is over, and not because all was said: nothing goes on that it has not seen. */
  isBroken = false;

  constructor(exchange: Exchange, settings: SessionSettings, metadata: JsonObject) {
    this.#exchange = exchange;
    this.#settings = settings;
    this.#metadata = metadata;
    this.modes = settings;
  }

  /** Opens the stream. Rejects with GrpcError. */
  async open(callMetadata: readonly string[]): Promise<void> {
    const { server, deadline } = this.#settings;
    const handler = {
      onMessage: (message: ProcessingResponse) => this.#received(message),
      onEnd: (error: GrpcError | undefined) => this.#ended(error),
    };
    const { process } = ExternalProcessor.method;
    this.#callout = grpcCallout(this.#exchange, "extProc", server.name, process);
    const metadata = [...callMetadata, ...this.#callout.metadata];
    const options = { deadline: undefined, beginsWithin: deadline, metadata };
    const { gateway } = this.#exchange;
    const stream = await server.stream(gateway, process, handler, options).catch((error) => {
      if (error instanceof GrpcError) this.#callout?.endWith("failed", error.code);
      throw error;
    });
    this.#stream = stream;
    stream.onDrain(() => {
      this.#request?.onRoom();
      this.#response?.onRoom();
    });
    this.#exchange.onAbort(() => {
      this.#callout?.end("cancelled", "cancelled");
      this.cancel();
    });
    // A response may be over before its request.
    this.#exchange.onClose(() => {
      if (!this.isOver) this.cancel();
    });
  }

  /** From here on the request's phase hears, or the response's. */
  begin(phase: "request" | "response", handler: ProcessingPhase): void {
    if (phase === "request") this.#request = handler;
    else {
      this.#response = handler;
      this.resume();
    }
  }

  /** False: the processor reads slowly; wait for `onDrain`. */
  send(message: ProcessorMessage): boolean {
    if (this.isOver || this.#stream === undefined) return true;
    const { request, attributes = {} } = message;
    const isFirst = !this.#hasBegun;
    this.#hasBegun = true;
    return this.#stream.send({
      request,
      attributes,
      ...(isFirst && { protocolConfig: this.#protocolConfig() }),
      // Expressions gave plain JSON.
      metadataContext: { filterMetadata: this.#metadata as Record<string, Record<string, never>> },
    });
  }

  /** Whether the processor owes a response: it has its time for it from now on, but while nobody listens to it. */
  owes(isDue: boolean): void {
    this.#isOwing = isDue;
    clearTimeout(this.#timer);
    if (!isDue || this.#isPaused || this.isOver) return;
    const { deadline } = this.#settings;
    this.#timer = setTimeout(() => {
      this.#stream?.giveUp();
      this.#fail(`no response within ${deadline} ms`);
    }, deadline);
  }

  /** Stops what comes from the processor until `resume`. */
  pause(): void {
    this.#isPaused = true;
    this.#stream?.pause();
    clearTimeout(this.#timer);
  }

  /**
   * The same for the backend, which reads the request slowly. Not once its response has begun: it may wait for that to be
   * read, which comes on the same stream.
   */
  pauseRequest(): void {
    if (this.#response === undefined) this.pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#stream?.resume();
    this.owes(this.#isOwing);
  }

  /** Of the request, or of the response, there is nothing more to say; of the other there may be. */
  finish(phase: "request" | "response"): void {
    this.#isFinished[phase] = true;
    if (this.#isFinished.request && this.#isFinished.response && !this.isOver) this.#end();
  }

  cancel(): void {
    this.#close();
    this.#stream?.cancel();
  }

  /** The bodies that the processor has to expect. */
  #protocolConfig() {
    const { requestBody, responseBody } = this.modes;
    return {
      requestBodyMode: bodyModeNumber[requestBody],
      responseBodyMode: bodyModeNumber[responseBody],
    };
  }

  #received(message: ProcessingResponse): void {
    if (this.isOver) return;
    const { dynamicMetadata } = message;
    const { attributes } = this.#exchange;
    if (dynamicMetadata !== undefined) {
      attributes.extproc = Object.assign(Object.create(null), attributes.extproc, dynamicMetadata);
    }
    if (!this.#isHeard(message)) {
      this.#stream?.cancel();
      const what = message.response.case ?? "an empty message";
      this.#fail(`a response to nothing: ${what}`, grpcStatus.internal);
    }
  }

  /** False: nobody waits for it. */
  #isHeard({ response, modeOverride }: ProcessingResponse): boolean {
    switch (response.case) {
      case "requestHeaders":
        this.#override(modeOverride);
        return this.#request?.onHeaders(response.value.response) ?? false;
      case "requestBody":
        return this.#request?.onBody(response.value.response) ?? false;
      case "requestTrailers":
        return this.#request?.onTrailers(response.value.headerMutation) ?? false;
      case "responseHeaders":
        this.#override(modeOverride);
        return this.#response?.onHeaders(response.value.response) ?? false;
      case "responseBody":
        return this.#response?.onBody(response.value.response) ?? false;
      case "responseTrailers":
        return this.#response?.onTrailers(response.value.headerMutation) ?? false;
      case "immediateResponse":
        this.#callout?.endWith("denied", grpcStatus.ok);
        this.#end();
        this.#replace(immediateReply(response.value));
        return true;
      default:
        return false;
    }
  }

  #replace(reply: ImmediateReply): void {
    const { status } = reply;
    if (status >= 400) {
      const { name } = this.#settings.server;
      noteFailure(this.#exchange, `${name} responds in its place (status ${status})`);
    }
    const phase = this.#response ?? this.#request;
    phase?.onImmediate(replyFor(this.#exchange, reply, reply.callStatus));
  }

  #override(modes: ProcessingMode | undefined): void {
    if (modes === undefined || !this.#settings.allowsModeOverride) return;
    this.modes = overriddenModes(this.modes, modes);
  }

  #ended(error: GrpcError | undefined): void {
    if (this.isOver) return;
    if (error !== undefined) {
      this.#fail(`${error.message} (gRPC status ${error.code})`, error.code);
      return;
    }
    this.#close();
    this.#hearEnd();
  }

  #fail(detail: string, status: number = grpcStatus.deadlineExceeded): void {
    this.#callout?.endWith("failed", status);
    this.#close();
    this.isBroken = !this.#settings.passesOnFailure;
    noteFailure(this.#exchange, detail);
    this.#hearEnd();
  }

  #hearEnd(): void {
    const passes = this.#settings.passesOnFailure && !this.hasBody;
    this.#request?.onEnd(passes);
    this.#response?.onEnd(passes);
  }

  #end(): void {
    this.#close();
    this.#stream?.end();
  }

  #close(): void {
    this.#callout?.end("ok");
    this.isOver = true;
    clearTimeout(this.#timer);
  }
}

/** What the log says of a processor that failed. */
export function noteFailure({ record }: Exchange, detail: string): void {
  logFields(record).set("error", `external processing: ${detail}`);
}
