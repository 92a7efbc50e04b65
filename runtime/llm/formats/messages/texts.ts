import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import {
  mapTexts,
  type PieceGuard,
  type StreamTexts,
  type TextFormat,
  type TextGuards,
} from "../../chat/texts.ts";
import { CarriedTexts } from "../carried-texts.ts";
import { type Events, PartedEvents } from "../parted-events.ts";
import { BARE_COMMENT, readEvent } from "../read-event.ts";
import { RepeatedEvent, type RepeatedText, repeatedText } from "../repeated-event.ts";

/** Texts of the Messages API. */
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

/** Deltas whose text the next delta of the block continues, and its key. */
const PIECES: Readonly<Record<string, string>> = {
  text_delta: "text",
  thinking_delta: "thinking",
  input_json_delta: "partial_json",
};

/** Deltas that continue the initial text of a block. */
const BEGINNINGS: Readonly<Record<string, string>> = {
  text: "text_delta",
  thinking: "thinking_delta",
};

/** The text of a block that later events may continue. */
interface OpenText {
  readonly type: string;
  readonly guard: PieceGuard;
}

class MessagesTexts implements StreamTexts {
  readonly #texts: TextGuards;
  /** Guard for consecutive text blocks. */
  readonly #blocks: PartedEvents;
  /** Text block that is not complete. */
  #current: { readonly index: unknown } | undefined;
  /** Texts of other blocks, by block. */
  readonly #open = new Map<unknown, OpenText>();
  /** Text of the last event; `undefined` if the event had other content too. */
  #last: RepeatedText | undefined;

  constructor(texts: TextGuards) {
    this.#texts = texts;
    this.#blocks = new PartedEvents(texts);
  }

  see(given: Buffer): Events {
    const whole = given.toString("utf8");
    const again = this.#last && repeatedText(this.#last, given, whole);
    if (again !== undefined) return again;
    this.#last = undefined;
    const read = readEvent(given, whole, this.#texts);
    if (read === undefined) return this.#behind([BARE_COMMENT]);
    const { bytes: event, text, object: message } = read;
    // Events that cannot be parsed cannot be guarded.
    if (message === undefined) return [];
    switch (message.type) {
      case "content_block_start":
        return this.#start(event, message);
      case "content_block_delta":
        if (!isJsonObject(message.delta)) return this.#behind([this.#whole(event, message)]);
        return this.#delta({ bytes: event, text }, message, message.delta);
      case "content_block_stop":
        return [...this.#close(message.index), ...this.#behind([event])];
      case "message_delta":
        return [...this.#closeAll(), ...this.#behind([this.#whole(event, message)])];
      case "message_stop":
        return [...this.end(), event];
      default:
        return this.#behind([this.#whole(event, message)]);
    }
  }

  end(): Events {
    return [...this.#closeAll(), ...this.#blocks.end(textEvent(this.#current?.index))];
  }

  #closeAll(): Events {
    const indexes = [...this.#open.keys(), ...(this.#current ? [this.#current.index] : [])];
    return indexes.flatMap((index) => this.#close(index));
  }

  /** Holds back events after a text that waits. */
  #behind(events: Events): Events {
    return events.length === 0 ? events : this.#blocks.behind(() => events);
  }

  /** Guards all texts of an event of any shape. */
  #whole(event: Buffer, message: JsonObject): string | Buffer {
    const mapped = mapTexts(message, this.#carried(message));
    return mapped === message || !isJsonObject(mapped) ? event : changed(mapped, {});
  }

  /** Returns a guard for texts that a later event of this kind may continue. */
  #carried({ type, delta }: JsonObject): CarriedTexts {
    const kind = isJsonObject(delta) ? `${type} ${delta.type}` : String(type);
    return new CarriedTexts(this.#texts, kind);
  }

  /** A block may start with a text, which its deltas continue. */
  #start(event: Buffer, message: JsonObject): Events {
    const { index, content_block: block } = message;
    const key = isJsonObject(block) ? String(block.type) : "";
    const type = BEGINNINGS[key];
    const text = isJsonObject(block) ? block[key] : undefined;
    const before = [...this.#close(index), ...this.#turnTo(index, type)];
    if (type === undefined || typeof text !== "string" || text === "") {
      return [...before, ...this.#behind([this.#whole(event, message)])];
    }
    const given = this.#push(index, type, text);
    const start = this.#around(message, "content_block", { [key]: given.text });
    return [...before, ...given.before, ...this.#behind(start)];
  }

  /** Starts another block: a text block may continue the text of the one before it; other blocks release that text. */
  #turnTo(index: unknown, type: string | undefined): Events {
    const before = this.#current === undefined ? [] : this.#close(this.#current.index);
    if (type !== "text_delta") return [...before, ...this.#blocks.release(textEvent(index))];
    this.#current = { index };
    return before;
  }

  /** Guards all texts of an event except for those of a member that already were. */
  #around(message: JsonObject, key: string, texts: JsonObject): readonly string[] {
    const member = isJsonObject(message[key]) ? message[key] : {};
    const bare = Object.fromEntries(Object.keys(texts).map((name) => [name, ""]));
    const around = mapTexts({ ...message, [key]: { ...member, ...bare } }, this.#carried(message));
    if (!isJsonObject(around) || !isJsonObject(around[key])) return [];
    return [changed(around, { [key]: { ...around[key], ...texts } })];
  }

  /** Guards a piece of a block. Returns the events that precede it, and the decided text of the block. */
  #push(
    index: unknown,
    type: string,
    piece: string,
  ): { readonly before: Events; readonly text: string } {
    if (type === "text_delta" && !this.#open.has(index)) {
      this.#current ??= { index };
      if (this.#current.index === index) return this.#blocks.push(piece);
    }
    return { before: [], text: this.#openText(index, type).push(piece) };
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
  ): Events {
    const { index } = message;
    const type = String(delta.type);
    const key = PIECES[type];
    const piece = key === undefined ? undefined : delta[key];
    const closed = this.#typeOf(index) === type ? [] : this.#close(index);
    if (key === undefined || typeof piece !== "string") {
      return [...closed, ...this.#behind([this.#whole(event, message)])];
    }
    const { before, text } = this.#push(index, type, piece);
    const isPlain = Object.keys(delta).length === 2 && Object.keys(message).length === 3;
    const repeated = isPlain && !this.#blocks.isWaiting ? RepeatedEvent.of(whole, key) : undefined;
    this.#last = repeated && { event: repeated, guard: this.#repeats(index, type) };
    if (!isPlain) {
      const around = this.#around(message, "delta", { [key]: text });
      return [...closed, ...before, ...this.#behind(around)];
    }
    const own = text === piece ? [event] : text === "" ? [] : [deltaEvent(index, type, text)];
    return [...closed, ...before, ...this.#behind(own)];
  }

  /** Returns a guard for the next piece of a block, when nothing waits. */
  #repeats(index: unknown, type: string): Pick<PieceGuard, "push"> {
    return { push: (piece) => this.#push(index, type, piece).text };
  }

  #typeOf(index: unknown): string | undefined {
    return this.#current?.index === index ? "text_delta" : this.#open.get(index)?.type;
  }

  #close(index: unknown): Events {
    if (this.#current?.index === index && this.#current !== undefined) {
      this.#current = undefined;
      return this.#blocks.next(textEvent(index));
    }
    const open = this.#open.get(index);
    if (open === undefined) return [];
    this.#open.delete(index);
    const rest = open.guard.end();
    return rest === "" ? [] : this.#behind([deltaEvent(index, open.type, rest)]);
  }
}

function textEvent(index: unknown): (text: string) => string {
  return (text) => deltaEvent(index, "text_delta", text);
}

function deltaEvent(index: unknown, type: string, text: string): string {
  const delta = { type, [PIECES[type] ?? "text"]: text };
  return eventText({ type: "content_block_delta", index, delta });
}

function changed(message: JsonObject, members: JsonObject): string {
  return eventText({ ...message, ...members });
}

function eventText(message: JsonObject): string {
  return `event: ${message.type}\ndata: ${JSON.stringify(message)}\n\n`;
}
