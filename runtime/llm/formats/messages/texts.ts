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

/** Deltas in which what a block begins with goes on. */
const beginnings: Readonly<Record<string, string>> = {
  text: "text_delta",
  thinking: "thinking_delta",
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
      case "content_block_start":
        return this.#start(event, message);
      case "content_block_delta":
        if (!isJsonObject(message.delta)) return [this.#whole(event, message)];
        return this.#delta({ bytes: event, text }, message, message.delta);
      case "content_block_stop":
        return [...this.#close(message.index), event];
      case "message_delta":
        return [...this.end(), this.#whole(event, message)];
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

  /** A block may begin with a text, which goes on in its deltas. */
  #start(event: Buffer, message: JsonObject): readonly (string | Buffer)[] {
    const { index, content_block: block } = message;
    const key = isJsonObject(block) ? String(block.type) : "";
    const type = beginnings[key];
    const text = isJsonObject(block) ? block[key] : undefined;
    if (type === undefined || typeof text !== "string" || text === "") {
      return [this.#whole(event, message)];
    }
    const before = this.#close(index);
    const given = this.#openText(index, type).push(text);
    return [...before, ...this.#around(message, "content_block", { [key]: given })];
  }

  /** The event with all its texts guarded but for those of a member that were. */
  #around(message: JsonObject, key: string, texts: JsonObject): readonly string[] {
    const member = isJsonObject(message[key]) ? message[key] : {};
    const bare = Object.fromEntries(Object.keys(texts).map((name) => [name, ""]));
    const around = mapTexts({ ...message, [key]: { ...member, ...bare } }, this.#texts);
    if (!isJsonObject(around) || !isJsonObject(around[key])) return [];
    return [changed(around, { [key]: { ...around[key], ...texts } })];
  }

  #openText(index: unknown, type: string): PieceGuard {
    const known = this.#open.get(index);
    if (known !== undefined) return known.guard;
    const guard = type === "input_json_delta" ? this.#texts.openJson() : this.#texts.open();
    this.#open.set(index, { type, guard });
    return guard;
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
      return [...before, this.#whole(event, message)];
    }
    const guard = this.#openText(index, type);
    const isPlain = Object.keys(delta).length === 2 && Object.keys(message).length === 3;
    const repeated = isPlain ? RepeatedEvent.of(whole, key) : undefined;
    this.#last = repeated && { event: repeated, guard };
    const text = guard.push(piece);
    if (!isPlain) return [...before, ...this.#around(message, "delta", { [key]: text })];
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
