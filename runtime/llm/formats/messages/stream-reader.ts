import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import { errorOfEvent } from "../../chat/llm-error.ts";
import type { LostFields } from "../../chat/response-fields.ts";
import type { StreamEvent } from "../../chat/stream-event.ts";
import type { Usage } from "../../chat/usage.ts";
import type { WebPage } from "../../chat/web-search.ts";
import { cutOff, notJson, unreadable } from "../broken-stream.ts";
import { isFilledText, parseObject } from "../parse-object.ts";
import { RepeatedEvent } from "../repeated-event.ts";
import type { SseEventReader } from "../sse-stream-reader.ts";
import { readPage } from "../web-pages.ts";
import { readMessagesError } from "./errors.ts";
import { readHostedResult } from "./hosted-results.ts";
import { messagesEventFields } from "./response-fields.ts";
import { isServerBlock, readExplanation, readSearch, readStop } from "./response-reader.ts";
import { readMessagesUsage } from "./usage.ts";

/** Reads a stream of the Messages API. */
export class MessagesEventReader implements SseEventReader {
  /** Provider's index of a block to the number of a call. */
  readonly #calls = new Map<unknown, number>();
  /** Calls that servers ran: the one that is being written, and those before. */
  readonly #hosted: { readonly call: JsonObject; input: unknown; text: string }[] = [];
  /** Citations of the text that is being written. */
  #citations: readonly WebPage[] = [];
  #usage: Usage | undefined;
  /** The event before, if it was only a text: most later ones differ only in that. */
  #repeated: RepeatedEvent | undefined;
  readonly #lost: LostFields | undefined;

  /** `lost`: takes the fields that other formats do not express. */
  constructor(lost?: LostFields) {
    this.#lost = lost;
  }

  read(data: string): readonly StreamEvent[] {
    const text = this.#repeated?.textOf(data);
    if (text !== undefined) return [{ kind: "text", text }];
    const event = parseObject(data);
    if (event === undefined) return [notJson];
    this.#lost?.note(event, messagesEventFields);
    const events = this.#readEvent(event, data);
    const isText = event.type === "content_block_delta" && events[0]?.kind === "text";
    this.#repeated = isText ? RepeatedEvent.of(data, "text") : undefined;
    return events;
  }

  #readEvent(event: JsonObject, data: string): readonly StreamEvent[] {
    switch (event.type) {
      case "message_start":
        return this.#start(isJsonObject(event.message) ? event.message : {});
      case "content_block_start":
        return this.#block(
          event.index,
          isJsonObject(event.content_block) ? event.content_block : {},
        );
      case "content_block_delta":
        return this.#delta(event.index, isJsonObject(event.delta) ? event.delta : {});
      case "content_block_stop":
        return this.#blockEnd();
      case "message_delta":
        return this.#last(event, isJsonObject(event.delta) ? event.delta : {});
      case "message_stop":
        return [{ kind: "end" }];
      case "ping":
        return [{ kind: "ping" }];
      case "error":
        return [{ kind: "error", error: errorOfEvent(readMessagesError(502, data)) }];
      default:
        return [];
    }
  }

  close(): readonly StreamEvent[] {
    return [cutOff];
  }

  #start(message: JsonObject): readonly StreamEvent[] {
    const { id, model } = message;
    const start: StreamEvent = {
      kind: "start",
      id: typeof id === "string" ? id : undefined,
      model: typeof model === "string" ? model : "",
    };
    return [start, ...this.#counted(message.usage)];
  }

  #block(index: unknown, block: JsonObject): readonly StreamEvent[] {
    const { id, name, data } = block;
    switch (block.type) {
      case "tool_use": {
        const call = this.#calls.size;
        this.#calls.set(index, call);
        if (typeof id !== "string" || typeof name !== "string") return [notJson];
        return [{ kind: "tool-call", index: call, id, name }, ...wholeInput(call, block.input)];
      }
      case "server_tool_use":
      case "mcp_tool_use":
        this.#hosted.push({ call: block, input: block.input, text: "" });
        return [];
      case "web_search_tool_result":
        return [readSearch(block, this.#hostedCalls())];
      case "redacted_thinking":
        return typeof data === "string" ? [{ kind: "redacted-reasoning", data }] : [];
      case "text":
      case "thinking":
        return this.#delta(index, block);
      default:
        return isServerBlock(block) ? readHostedResult(block, this.#hostedCalls()) : [unreadable];
    }
  }

  #hostedCalls(): readonly JsonObject[] {
    return this.#hosted.map(({ call, input }) => ({ ...call, input }));
  }

  #delta(index: unknown, delta: JsonObject): readonly StreamEvent[] {
    const { text, thinking, signature, partial_json: input } = delta;
    if (isFilledText(text)) return [{ kind: "text", text }];
    if (isFilledText(thinking)) return [{ kind: "reasoning", text: thinking }];
    if (isFilledText(signature)) return [{ kind: "signature", signature }];
    if (isJsonObject(delta.citation)) {
      this.#citations = [...this.#citations, ...readPage(delta.citation)];
    }
    if (!isFilledText(input)) return [];
    const call = this.#calls.get(index);
    if (call !== undefined) return [{ kind: "tool-input", index: call, text: input }];
    const hosted = this.#hosted.at(-1);
    if (hosted !== undefined) hosted.text += input;
    return [];
  }

  /** Citations may arrive before the text that cites them. */
  #blockEnd(): readonly StreamEvent[] {
    const hosted = this.#hosted.at(-1);
    if (hosted !== undefined && hosted.text !== "") hosted.input = parseObject(hosted.text);
    const cited = this.#citations.map((page) => ({ kind: "citation" as const, page }));
    this.#citations = [];
    return cited;
  }

  #last(event: JsonObject, delta: JsonObject): readonly StreamEvent[] {
    const { stop_reason: reason, stop_sequence: sequence } = delta;
    const stopSequence = typeof sequence === "string" ? sequence : undefined;
    const stop: readonly StreamEvent[] =
      typeof reason === "string" ? [{ kind: "stop", reason: readStop(reason), stopSequence }] : [];
    return [...readExplanation(delta), ...stop, ...this.#counted(event.usage)];
  }

  #counted(usage: unknown): readonly StreamEvent[] {
    this.#usage = readMessagesUsage(usage, this.#usage);
    return this.#usage === undefined ? [] : [{ kind: "usage", usage: this.#usage }];
  }
}

/** Returns the input of a call that is complete from the start. Anthropic's own server sends it in pieces. */
function wholeInput(index: number, input: unknown): readonly StreamEvent[] {
  if (!isJsonObject(input) || Object.keys(input).length === 0) return [];
  return [{ kind: "tool-input", index, text: JSON.stringify(input) }];
}
