import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../chat/request-object.ts";
import {
  mapTexts,
  type PieceGuard,
  type StreamTexts,
  type TextFormat,
  type TextGuards,
} from "../../chat/texts.ts";
import { dataOf } from "../event-bytes.ts";
import { parseObject } from "../parse-object.ts";
import { RepeatedEvent, type RepeatedText, repeatedText } from "../repeated-event.ts";

/** Where the Messages API has texts. */
export const messagesTexts: TextFormat = {
  request: [
    ...["system", "messages", "tools", "output_config", "output_format", "tool_choice"],
    ...["stop_sequences", "mcp_servers"],
  ],
  plain: new Set([
    ...["model", "max_tokens", "stream", "temperature", "top_p", "top_k"],
    ...["thinking", "metadata", "cache_control", "service_tier", "inference_geo"],
    ...["speed", "container"],
  ]),
  response: ["content", "stop_details", "stop_sequence"],
  plainResponse: new Set([
    ...["id", "type", "role", "model", "stop_reason", "usage", "container"],
    "context_management",
  ]),
  openStream: (texts) => new MessagesTexts(texts),
};

/** Deltas whose text goes on in the next one of the block, and where it stands. */
const pieces: Readonly<Record<string, string>> = {
  text_delta: "text",
  thinking_delta: "thinking",
  input_json_delta: "partial_json",
};

/** The text of a block that may go on. */
interface OpenText {
  readonly type: string;
  readonly guard: PieceGuard;
}

class MessagesTexts implements StreamTexts {
  readonly #texts: TextGuards;
  /** By block. */
  readonly #open = new Map<unknown, OpenText>();
  /** Of the last event; undefined: it said something else too. */
  #last: RepeatedText | undefined;

  constructor(texts: TextGuards) {
    this.#texts = texts;
  }

  see(event: Buffer): readonly (string | Buffer)[] {
    const text = event.toString("utf8");
    const again = this.#last && repeatedText(this.#last, event, text);
    if (again !== undefined) return again;
    this.#last = undefined;
    const data = dataOf(text);
    if (data === undefined) return [event];
    const message = parseObject(data);
    // What cannot be read cannot be guarded.
    if (message === undefined) return [];
    switch (message.type) {
      case "message_start":
        return [this.#mapped(event, message, "message")];
      case "content_block_start":
        return [this.#mapped(event, message, "content_block")];
      case "content_block_delta":
        if (!isJsonObject(message.delta)) return [this.#whole(event, message)];
        return this.#delta({ bytes: event, text }, message, message.delta);
      case "content_block_stop":
        return [...this.#close(message.index), event];
      case "message_delta":
        return [...this.end(), this.#mapped(event, message, "delta")];
      case "message_stop":
        return [...this.end(), event];
      default:
        return [this.#whole(event, message)];
    }
  }

  end(): readonly string[] {
    return [...this.#open.keys()].flatMap((index) => this.#close(index));
  }

  /** The event with all its texts guarded: nobody knows which it has. */
  #whole(event: Buffer, message: JsonObject): string | Buffer {
    const mapped = mapTexts(message, this.#texts);
    return mapped === message || !isJsonObject(mapped) ? event : changed(mapped, {});
  }

  /** The event with the texts of a member guarded. */
  #mapped(event: Buffer, message: JsonObject, key: string): string | Buffer {
    const value = mapTexts(message[key], this.#texts);
    return value === message[key] ? event : changed(message, { [key]: value });
  }

  #delta(
    { bytes: event, text: whole }: { readonly bytes: Buffer; readonly text: string },
    message: JsonObject,
    delta: JsonObject,
  ): readonly (string | Buffer)[] {
    const { index } = message;
    const type = String(delta.type);
    const key = pieces[type];
    const piece = key === undefined ? undefined : delta[key];
    const before = this.#open.get(index)?.type === type ? [] : this.#close(index);
    if (key === undefined || typeof piece !== "string") {
      const mapped = mapTexts(delta, this.#texts);
      return [...before, mapped === delta ? event : changed(message, { delta: mapped })];
    }
    let open = this.#open.get(index);
    if (open === undefined) {
      const isJson = type === "input_json_delta";
      open = { type, guard: isJson ? this.#texts.openJson() : this.#texts.open() };
      this.#open.set(index, open);
    }
    const repeated = Object.keys(delta).length === 2 ? RepeatedEvent.of(whole, key) : undefined;
    this.#last = repeated && { event: repeated, guard: open.guard };
    const text = open.guard.push(piece);
    if (text === piece) return [...before, event];
    return text === "" ? before : [...before, deltaEvent(index, type, key, text)];
  }

  #close(index: unknown): readonly string[] {
    const open = this.#open.get(index);
    if (open === undefined) return [];
    this.#open.delete(index);
    const rest = open.guard.end();
    return rest === "" ? [] : [deltaEvent(index, open.type, pieces[open.type] ?? "text", rest)];
  }
}

function deltaEvent(index: unknown, type: string, key: string, text: string): string {
  return eventText({ type: "content_block_delta", index, delta: { type, [key]: text } });
}

function changed(message: JsonObject, members: JsonObject): string {
  return eventText({ ...message, ...members });
}

function eventText(message: JsonObject): string {
  return `event: ${message.type}\ndata: ${JSON.stringify(message)}\n\n`;
}
