import type { CapturedVariables, JsonObject } from "../cel/variables.ts";
import type { BodyObserver } from "./body/body.ts";
import { decodeNow } from "./body/content-coding.ts";
import type { CountedBuffer } from "./body/counted-buffer.ts";
import type { Exchange } from "./exchange.ts";
import { ForwardedResponse } from "./forwarded-response.ts";
import { headerValue } from "./headers/header-list.ts";
import type { ResponseSink } from "./response-sink.ts";

/** Reads a tool call of MCP from the bodies of its request and response. */
type ToolCallReader = (
  request: Uint8Array | undefined,
  response: Uint8Array | undefined,
) =>
  | {
      readonly arguments?: JsonObject | undefined;
      readonly result?: unknown;
      readonly error?: unknown;
    }
  | undefined;

/** Bodies that expressions of the log read. */
export interface BodyCapture {
  /** Maximum bytes of a body; the rest of a longer one is not captured. */
  readonly maxBytes: number;
  readonly request: boolean;
  readonly response: boolean;
  /** Reads the texts of a completion from a response to a client; absent if no expression reads them. */
  readonly completion?: (body: Uint8Array) => readonly string[] | undefined;
  /** Reads the tool calls of a completion; absent if no expression reads them. */
  readonly toolCalls?: (body: Uint8Array) => readonly JsonObject[] | undefined;
  /** Reads the service tier of a completion; absent if no expression reads it. */
  readonly serviceTier?: (body: Uint8Array) => string | undefined;
  /** Reads a tool call of MCP; absent if no expression reads its arguments, result or error. */
  readonly toolCall?: ToolCallReader;
}

/**
 * Returns a function that copies the bodies of an exchange while they pass, for its log line and its span. Bodies are not
 * delayed. They count against the memory for buffered messages and are dropped if there is no room.
 */
export function captureBodies(capture: BodyCapture): (exchange: Exchange) => void {
  return (exchange) => {
    exchange.captured = new CapturedBodies(exchange, capture);
  };
}

/** Captured bodies of one exchange, decoded on access. */
class CapturedBodies implements CapturedVariables {
  readonly #exchange: Exchange;
  readonly #capture: BodyCapture;
  readonly #request: CapturedBody | undefined;
  readonly #response: CapturedBody | undefined;
  /** The tool call once it was read. */
  #readCall: { readonly call: ReturnType<ToolCallReader> } | undefined;

  constructor(exchange: Exchange, capture: BodyCapture) {
    const { maxBytes, request, response } = capture;
    this.#exchange = exchange;
    this.#capture = capture;
    if (request && exchange.hasBody) {
      const captured = new CapturedBody(() => exchange.newBuffer(), maxBytes);
      exchange.observeRequestBody(captured);
      this.#request = captured;
    }
    if (response) {
      const captured = new CapturedBody(() => exchange.newBuffer(), maxBytes);
      exchange.interceptResponse((next) => new CapturingSink(next, captured));
      this.#response = captured;
    }
  }

  get request(): Uint8Array | undefined {
    return this.#request?.content(this.#exchange.header("content-encoding"));
  }

  get response(): Uint8Array | undefined {
    return this.#response?.content(headerValue(this.#exchange.responseHeaders, "content-encoding"));
  }

  get completion(): readonly string[] | undefined {
    const body = this.#modelResponse;
    return body && this.#capture.completion?.(body);
  }

  get toolCalls(): readonly JsonObject[] | undefined {
    const body = this.#modelResponse;
    return body && this.#capture.toolCalls?.(body);
  }

  get serviceTier(): string | undefined {
    const body = this.#modelResponse;
    return body && this.#capture.serviceTier?.(body);
  }

  get toolArguments(): JsonObject | undefined {
    return this.#toolCall?.arguments;
  }

  get toolResult(): unknown {
    return this.#toolCall?.result;
  }

  get toolError(): unknown {
    return this.#toolCall?.error;
  }

  get #modelResponse(): Uint8Array | undefined {
    return this.#exchange.attributes.llm === null ? undefined : this.response;
  }

  get #toolCall(): ReturnType<ToolCallReader> {
    const { refusalFormat } = this.#exchange;
    if (refusalFormat.protocol !== "mcp") return undefined;
    this.#readCall ??= { call: this.#capture.toolCall?.(this.request, this.response) };
    return this.#readCall.call;
  }
}

/** One body while it passes. */
class CapturedBody implements BodyObserver {
  readonly #newBuffer: () => CountedBuffer;
  readonly #maxBytes: number;
  #buffer: CountedBuffer;
  #hasRoom = true;

  constructor(newBuffer: () => CountedBuffer, maxBytes: number) {
    this.#newBuffer = newBuffer;
    this.#maxBytes = maxBytes;
    this.#buffer = newBuffer();
  }

  push(chunk: Uint8Array): void {
    const rest = this.#maxBytes - this.#buffer.length;
    if (!this.#hasRoom || rest === 0) return;
    // The engine may reuse the memory of a piece once it has passed.
    this.#hasRoom = this.#buffer.push(Buffer.from(chunk.subarray(0, rest)));
  }

  /** Drops what was captured: another body follows. */
  restart(): void {
    this.#buffer.release();
    this.#buffer = this.#newBuffer();
    this.#hasRoom = true;
  }

  /** Returns the decoded body; `undefined` if there was no room for it or it cannot be decoded. */
  content(coding: string | undefined): Uint8Array | undefined {
    if (!this.#hasRoom) return undefined;
    return decodeNow(this.#buffer.bytes(), coding, this.#maxBytes);
  }
}

/** Copies a response while it passes to the client. */
class CapturingSink extends ForwardedResponse {
  readonly #body: CapturedBody;

  constructor(next: ResponseSink, body: CapturedBody) {
    super(next);
    this.#body = body;
  }

  override respond(status: number, headers: readonly string[], body: string | Uint8Array): void {
    this.#body.push(bytesOf(body));
    super.respond(status, headers, body);
  }

  override write(chunk: string | Uint8Array): boolean {
    this.#body.push(bytesOf(chunk));
    return super.write(chunk);
  }

  override withdraw(): void {
    this.#body.restart();
    super.withdraw();
  }

  override leave(): void {
    this.#body.restart();
    super.leave();
  }
}

function bytesOf(chunk: string | Uint8Array): Uint8Array {
  return typeof chunk === "string" ? Buffer.from(chunk) : chunk;
}
