import type { JsonObject } from "../../cel/variables.ts";
import type { GrpcChannel, MessageStream } from "../../grpc/channel.ts";
import type { ProcessingMode } from "../../grpc/gen/envoy/extensions/filters/http/ext_proc/v3/processing_mode_pb.ts";
import {
  type CommonResponse,
  ExternalProcessor,
  type HeaderMutation,
  type ImmediateResponse,
  type ProcessingRequestSchema,
  type ProcessingResponse,
} from "../../grpc/gen/envoy/service/ext_proc/v3/external_processor_pb.ts";
import { GrpcError } from "../../grpc/status.ts";
import { type Exchange, logFields } from "../../http/exchange.ts";
import { grpcStatus } from "../../http/grpc-status.ts";
import { type GrpcCallout, grpcCallout } from "../../telemetry/callout.ts";
import { replyHeaders } from "../envoy/header-edits.ts";
import { replyFor, type ServerReply } from "../envoy/server-reply.ts";
import { bodyModeNumber, overriddenModes, type ProcessingModes } from "./processing-modes.ts";
import type { ProcessorMessage } from "./processor-messages.ts";

/** Receives a processor's messages about a request or its response. */
export interface ProcessingPhase {
  /** Returns false if no head waits for a response. */
  onHeaders(response: CommonResponse | undefined): boolean;
  /** Returns false if no piece of a body waits for a response. */
  onBody(response: CommonResponse | undefined): boolean;
  /** Returns false if no trailers wait for a response. */
  onTrailers(changes: HeaderMutation | undefined): boolean;
  /** The processor itself responds to the client. Last call. */
  onImmediate(reply: ServerReply): void;
  /** The session has ended. `passes`: unprocessed parts may continue unchanged. */
  onEnd(passes: boolean): void;
  /** The processor accepts more data again. */
  onRoom(): void;
}

/** Settings of a session. */
export interface SessionSettings extends ProcessingModes {
  readonly server: GrpcChannel;
  /** Milliseconds that a message may wait for its response, and the first one for a connection. */
  readonly deadline: number;
  /** Whether requests continue if the processor fails, as long as it has received no part of their bodies. */
  readonly passesOnFailure: boolean;
  /** Whether the processor may change the modes in its response to a head. */
  readonly allowsModeOverride: boolean;
}

/** The stream of messages with a processor about one request and its response. */
export class ProcessorSession {
  readonly #exchange: Exchange;
  readonly #settings: SessionSettings;
  #metadata: JsonObject;
  #stream: MessageStream<typeof ProcessingRequestSchema> | undefined;
  #request: ProcessingPhase | undefined;
  #response: ProcessingPhase | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isDue = false;
  #isPaused = false;
  #callout: GrpcCallout | undefined;
  #hasBegun = false;
  readonly #isFinished = { request: false, response: false };
  /** The parts that the processor receives, including its own changes. */
  modes: ProcessingModes;
  /** Whether the processor has received bytes of a body, which cannot be undone. */
  hasBody = false;
  isOver = false;
  /** Whether the session has failed: parts that the processor has not seen must not continue. */
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
    // A response may end before its request.
    this.#exchange.onClose(() => {
      if (!this.isOver) this.cancel();
    });
  }

  /** Routes messages about the request, or about its response, to a handler. */
  begin(phase: "request" | "response", handler: ProcessingPhase): void {
    if (phase === "request") this.#request = handler;
    else {
      this.#response = handler;
      this.resume();
    }
  }

  /** Adds objects by namespace to all later messages. */
  addMetadata(more: JsonObject): void {
    this.#metadata = { ...this.#metadata, ...more };
  }

  /** Returns false if the caller must wait for `onRoom`. */
  send(message: ProcessorMessage): boolean {
    if (this.isOver || this.#stream === undefined) return true;
    const { request, attributes = {} } = message;
    const isFirst = !this.#hasBegun;
    this.#hasBegun = true;
    return this.#stream.send({
      request,
      attributes,
      ...(isFirst && { protocolConfig: this.#protocolConfig() }),
      // Expressions return plain JSON.
      metadataContext: { filterMetadata: this.#metadata as Record<string, Record<string, never>> },
    });
  }

  /** Sets whether the processor owes a response, and restarts its deadline. The deadline stops while the stream is paused. */
  setDue(isDue: boolean): void {
    this.#isDue = isDue;
    clearTimeout(this.#timer);
    if (!isDue || this.#isPaused || this.isOver) return;
    const { deadline } = this.#settings;
    this.#timer = setTimeout(() => {
      this.#stream?.giveUp();
      this.#fail(`no response within ${deadline} ms`);
    }, deadline);
  }

  /** Pauses the stream until `resume`. */
  pause(): void {
    this.#isPaused = true;
    this.#stream?.pause();
    clearTimeout(this.#timer);
  }

  /**
   * Pauses the stream while the backend reads the request slowly. Not once the response has begun: the backend may wait
   * until its response is read, which arrives on the same stream.
   */
  pauseRequest(): void {
    if (this.#response === undefined) this.pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#stream?.resume();
    this.setDue(this.#isDue);
  }

  /** Marks the request or the response as finished; the session ends with the second one. */
  finish(phase: "request" | "response"): void {
    this.#isFinished[phase] = true;
    if (this.#isFinished.request && this.#isFinished.response && !this.isOver) this.#end();
  }

  cancel(): void {
    this.#close();
    this.#stream?.cancel();
  }

  /** Tells the processor which bodies to expect. */
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
    if (!this.#isExpected(message)) {
      this.#stream?.cancel();
      const what = message.response.case ?? "an empty message";
      this.#fail(`unexpected response: ${what}`, grpcStatus.internal);
    }
  }

  /** Dispatches a message. Returns false if nothing waits for it. */
  #isExpected({ response, modeOverride }: ProcessingResponse): boolean {
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
      noteFailure(this.#exchange, `${name} responded instead of the backend (status ${status})`);
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
    this.#notifyEnd();
  }

  #fail(detail: string, status: number = grpcStatus.deadlineExceeded): void {
    this.#callout?.endWith("failed", status);
    this.#close();
    this.isBroken = !this.#settings.passesOnFailure;
    noteFailure(this.#exchange, detail);
    this.#notifyEnd();
  }

  #notifyEnd(): void {
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

/** Logs the failure of a processor. */
export function noteFailure({ record }: Exchange, detail: string): void {
  logFields(record).set("error", `external processing: ${detail}`);
}

/** A response of a processor to the client. */
interface ImmediateReply extends ServerReply {
  /** The status of a gRPC call; `undefined` if the processor sets none. */
  readonly callStatus: number | undefined;
}

/** Converts the processor's response; the status is 200 unless it sets one. */
function immediateReply({ status, headers, body, grpcStatus }: ImmediateResponse): ImmediateReply {
  const code = status?.code ?? 0;
  return {
    status: code >= 200 && code <= 599 ? code : 200,
    headers: replyHeaders(headers?.setHeaders ?? [], body.length > 0),
    body,
    callStatus: grpcStatus?.status,
  };
}
