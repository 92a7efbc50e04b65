import { receivedObjects } from "../../http/body/received-objects.ts";
import { callerName } from "../../http/caller-identity.ts";
import type { Exchange } from "../../http/exchange.ts";
import { headerValue } from "../../http/headers/header-list.ts";
import type { LongFieldWriter, MessageCapture } from "../../telemetry/message-capture.ts";
import { CallAttributes, promptOf } from "../calls/call-attributes.ts";
import { LlmRefusal } from "../chat/llm-error.ts";
import type { MessageFormat } from "../chat/message-format.ts";
import type { Completion } from "../chat/streamed-completion.ts";
import type { GuardPattern } from "../guards/pattern-guard.ts";
import { fitMessages } from "./fit-messages.ts";
import { inputMessages, outputMessage, systemParts } from "./message-parts.ts";
import { redacted } from "./redaction.ts";

/** Which messages of calls to models are captured. */
export interface CaptureSettings {
  /** Decides whether the messages of a call are captured; absent for all calls. */
  readonly samples?: (exchange: Exchange, status: number | undefined) => boolean;
  readonly input: boolean;
  readonly output: boolean;
  /** Maximum bytes of each attribute. */
  readonly maxBytes: number;
  /** Patterns whose matches are masked; absent if nothing is masked. */
  readonly redact?: readonly GuardPattern[];
}

/**
 * Captures the messages of calls to models as attributes of OpenTelemetry's conventions for generative AI: the request after
 * its guards, and the completion that the client received.
 */
export function captureMessages(settings: CaptureSettings): MessageCapture {
  return {
    write: (attributes, exchange, status) => {
      const { llm } = exchange.attributes;
      if (!(llm instanceof CallAttributes) || llm.messages === undefined) return false;
      if (settings.samples?.(exchange, status) === false) return false;
      const written = new CapturedCall(attributes, settings);
      if (settings.input) written.input(llm, llm.messages);
      if (settings.output) written.output(exchange, llm.messages);
      written.end();
      // Names that tools for conversations read: Langfuse has neither costs nor users by other ones.
      attributes.text("user.id", callerName(exchange.record));
      attributes.number("gen_ai.usage.cost", llm.cost?.total);
      return true;
    },
  };
}

/** Writes the attributes of one call. */
class CapturedCall {
  readonly #attributes: LongFieldWriter;
  readonly #settings: CaptureSettings;
  #isTruncated = false;

  constructor(attributes: LongFieldWriter, settings: CaptureSettings) {
    this.#attributes = attributes;
    this.#settings = settings;
  }

  input(call: CallAttributes, format: MessageFormat): void {
    const { system, messages } = readInput(call, format);
    this.#write("gen_ai.system_instructions", system);
    this.#write("gen_ai.input.messages", messages);
  }

  output(exchange: Exchange, format: MessageFormat): void {
    const bytes = exchange.captured?.response;
    const type = headerValue(exchange.responseHeaders, "content-type") ?? "";
    const completions = bytes && readOutput(bytes, type, format);
    if (completions === undefined || completions.length === 0) {
      // A response that is longer than the captured bytes cannot be read.
      this.#isTruncated ||= exchange.responseStatus === 200;
      return;
    }
    this.#write(
      "gen_ai.output.messages",
      completions.map(({ blocks, stop }) => outputMessage(blocks, stop)),
    );
  }

  end(): void {
    if (this.#isTruncated) this.#attributes.json("llm.capture.truncated", "true");
  }

  #write(name: string, messages: readonly object[] | undefined): void {
    if (messages === undefined) return;
    const { redact, maxBytes } = this.#settings;
    // Masked before it is cut: a cut match would no longer be recognized.
    const shown = redact === undefined ? messages : redacted(messages, redact);
    const { json, isTruncated } = fitMessages(shown, maxBytes);
    this.#attributes.content(name, json);
    this.#isTruncated ||= isTruncated;
  }
}

/** Messages of a request. */
interface CapturedInput {
  readonly system: readonly object[] | undefined;
  readonly messages: readonly object[];
}

/** Reads the request that was sent. If only its own format can express it, its texts are read. */
function readInput({ sent }: CallAttributes, { readRequest }: MessageFormat): CapturedInput {
  const body = sent?.readBody() ?? {};
  try {
    const request = readRequest(body);
    return { system: systemParts(request), messages: inputMessages(request) };
  } catch (error) {
    if (!(error instanceof LlmRefusal)) throw error;
    const messages = promptOf(body).map(({ role, content }) => ({
      role,
      parts: [{ type: "text", content }],
    }));
    return { system: undefined, messages };
  }
}

/** Reads a response; returns `undefined` if it is not a completion, for example an error, or too long to be captured. */
function readOutput(
  bytes: Uint8Array,
  type: string,
  { readResponse, readStream }: MessageFormat,
): readonly Completion[] | undefined {
  if (STREAMS.test(type))
    return readStream(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const { whole } = receivedObjects(bytes);
  try {
    return whole && readResponse(whole);
  } catch {
    // An error of a provider has another shape.
    return undefined;
  }
}

/** Matches the media types of streams. */
const STREAMS = /^(?:text\/event-stream|application\/vnd\.amazon\.eventstream)/i;
