import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../chat/request-object.ts";
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
const PIECES: Readonly<Record<string, string>> = {
  text_delta: "text",
  thinking_delta: "thinking",
  input_json_delta: "partial_json",
};

/** Deltas in which what a block begins with goes on. */
const BEGINNINGS: Readonly<Record<string, string>> = {
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
  /** What blocks of text say one behind the other. */
  readonly #said: PartedEvents;
  /** The block of text that goes on. */
  #saying: { readonly index: unknown } | undefined;
  /** Texts of other blocks, by block. */
  readonly #open = new Map<unknown, OpenText>();
  /** Of the last event; undefined: it said something else too. */
  #last: RepeatedText | undefined;

  constructor(texts: TextGuards) {
    this.#texts = texts;
    this.#said = new PartedEvents(texts);
  }

  see(given: Buffer): Events {
    const whole = given.toString("utf8");
    const again = this.#last && repeatedText(this.#last, given, whole);
    if (again !== undefined) return again;
    this.#last = undefined;
    const read = readEvent(given, whole, this.#texts);
    if (read === undefined) return this.#behind([BARE_COMMENT]);
    const { bytes: event, text, object: message } = read;
    // What cannot be read cannot be guarded.
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
    return [...this.#closeAll(), ...this.#said.end(textEvent(this.#saying?.index))];
  }

  #closeAll(): Events {
    const indexes = [...this.#open.keys(), ...(this.#saying ? [this.#saying.index] : [])];
    return indexes.flatMap((index) => this.#close(index));
  }

  /** What stands behind a text that waits, waits too. */
  #behind(events: Events): Events {
    return events.length === 0 ? events : this.#said.behind(() => events);
  }

  /** The event with all its texts guarded: nobody knows which it has. */
  #whole(event: Buffer, message: JsonObject): string | Buffer {
    const mapped = mapTexts(message, this.#carried(message));
    return mapped === message || !isJsonObject(mapped) ? event : changed(mapped, {});
  }

  /** What guards texts that a later event of the kind may go on with. */
  #carried({ type, delta }: JsonObject): CarriedTexts {
    const kind = isJsonObject(delta) ? `${type} ${delta.type}` : String(type);
    return new CarriedTexts(this.#texts, kind);
  }

  /** A block may begin with a text, which goes on in its deltas. */
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

  /** Another block begins: one of text may go on with what the one before it said, and no other one waits for that. */
  #turnTo(index: unknown, type: string | undefined): Events {
    const before = this.#saying === undefined ? [] : this.#close(this.#saying.index);
    if (type !== "text_delta") return [...before, ...this.#said.release(textEvent(index))];
    this.#saying = { index };
    return before;
  }

  /** The event with all its texts guarded but for those of a member that were. */
  #around(message: JsonObject, key: string, texts: JsonObject): readonly string[] {
    const member = isJsonObject(message[key]) ? message[key] : {};
    const bare = Object.fromEntries(Object.keys(texts).map((name) => [name, ""]));
    const around = mapTexts({ ...message, [key]: { ...member, ...bare } }, this.#carried(message));
    if (!isJsonObject(around) || !isJsonObject(around[key])) return [];
    return [changed(around, { [key]: { ...around[key], ...texts } })];
  }

  /** A piece of a block: what goes out before it, and what is decided of the block. */
  #push(
    index: unknown,
    type: string,
    piece: string,
  ): { readonly before: Events; readonly text: string } {
    if (type === "text_delta" && !this.#open.has(index)) {
      this.#saying ??= { index };
      if (this.#saying.index === index) return this.#said.push(piece);
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
    const repeated = isPlain && !this.#said.isWaiting ? RepeatedEvent.of(whole, key) : undefined;
    this.#last = repeated && { event: repeated, guard: this.#repeats(index, type) };
    if (!isPlain) {
      const around = this.#around(message, "delta", { [key]: text });
      return [...closed, ...before, ...this.#behind(around)];
    }
    const own = text === piece ? [event] : text === "" ? [] : [deltaEvent(index, type, text)];
    return [...closed, ...before, ...this.#behind(own)];
  }

  /** What guards the next piece of a block, behind which nothing waits. */
  #repeats(index: unknown, type: string): Pick<PieceGuard, "push"> {
    return { push: (piece) => this.#push(index, type, piece).text };
  }

  #typeOf(index: unknown): string | undefined {
    return this.#saying?.index === index ? "text_delta" : this.#open.get(index)?.type;
  }

  #close(index: unknown): Events {
    if (this.#saying?.index === index && this.#saying !== undefined) {
      this.#saying = undefined;
      return this.#said.next(textEvent(index));
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
