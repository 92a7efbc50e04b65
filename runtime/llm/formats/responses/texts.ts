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
import { eventText } from "./errors.ts";
import { NumberedEvent } from "./numbered-event.ts";

/** Texts of the Responses API. */
export const responsesTexts: TextFormat = {
  request: ["instructions", "input", "prompt", "tools", "text", "tool_choice", "metadata"],
  plain: new Set([
    ...["model", "stream", "stream_options", "max_output_tokens", "max_tool_calls", "temperature"],
    ...["top_p", "top_logprobs", "parallel_tool_calls", "reasoning", "include"],
    ...["user", "safety_identifier", "client_metadata", "store", "service_tier"],
    ...["prompt_cache_key", "prompt_cache_options", "prompt_cache_retention", "truncation"],
    ...["background", "previous_response_id", "conversation"],
  ]),
  response: ["output", "output_text", "instructions", "error"],
  plainResponse: new Set([
    ...["id", "object", "created_at", "completed_at", "status", "incomplete_details"],
    ...["model", "usage", "previous_response_id", "conversation", "tool_choice", "tools", "text"],
    ...["temperature", "top_p", "top_logprobs", "truncation", "reasoning", "metadata", "user"],
    ...["max_output_tokens", "max_tool_calls", "parallel_tool_calls", "store", "service_tier"],
    ...["safety_identifier", "prompt_cache_key", "prompt_cache_options", "background", "prompt"],
    ...["prompt_cache_retention", "moderation", "billing", "frequency_penalty", "presence_penalty"],
    // Members of deleted responses, and of lists.
    ...["deleted", "has_more", "first_id", "last_id"],
  ]),
  openStream: (texts) => new ResponsesTexts(texts),
};

/** A text that later events may continue, and its last event. */
interface OpenText {
  readonly guard: PieceGuard;
  readonly event: JsonObject;
}

/** The current part of the model's output, and its last event. */
interface OpenPart {
  readonly place: string;
  readonly event: JsonObject;
}

class ResponsesTexts implements StreamTexts {
  readonly #texts: TextGuards;
  /** Guard for consecutive parts and items. */
  readonly #parts: PartedEvents;
  #current: OpenPart | undefined;
  /** Other texts, by the type of their events and their place in the response. */
  readonly #open = new Map<string, OpenText>();
  /** Number of the next event; `undefined` if the provider does not number events. */
  #sequence: number | undefined;
  /** Template of the last event; `undefined` if the event had other content too. */
  #last: { readonly event: NumberedEvent; readonly guard: Pick<PieceGuard, "push"> } | undefined;

  constructor(texts: TextGuards) {
    this.#texts = texts;
    this.#parts = new PartedEvents(texts);
  }

  see(given: Buffer): Events {
    const whole = given.toString("utf8");
    const again = this.#again(given, whole);
    if (again !== undefined) return again;
    this.#last = undefined;
    const read = readEvent(given, whole, this.#texts);
    if (read === undefined) return this.#parts.behind(() => [BARE_COMMENT]);
    const { bytes: event, text, object: value } = read;
    // Events that cannot be parsed cannot be guarded.
    if (value === undefined) return [];
    if (typeof value.type !== "string") {
      const mapped = mapTexts(value, new CarriedTexts(this.#texts, ""));
      const output = mapped === value ? event : `data: ${JSON.stringify(mapped)}\n\n`;
      return this.#parts.behind(() => [output]);
    }
    if (typeof value.sequence_number === "number") this.#sequence ??= value.sequence_number;
    const { type } = value;
    const isPiece = type.endsWith(".delta") && typeof value.delta === "string";
    if (isPiece && type !== "response.audio.delta") {
      return this.#delta({ bytes: event, text }, value, type);
    }
    // A text ends with its own `done` event, or with the last event. Other items only release it.
    const before = type.endsWith(".done")
      ? this.#close(placeOf(value, type.replace(/\.done$/, ".delta")))
      : isLast(type)
        ? this.end()
        : isOther(value)
          ? this.#release()
          : [];
    // The text may be complete only when this event is sent.
    const own = this.#parts.behind(() => {
      const carried = new CarriedTexts(this.#texts, type);
      const mapped = mapTexts(withoutLogprobs(value), carried);
      return [this.#numbered(event, value, isJsonObject(mapped) ? mapped : value)];
    });
    return [...before, ...own];
  }

  end(): Events {
    const places = [...this.#open.keys()];
    const event = this.#current?.event ?? {};
    this.#current = undefined;
    return [
      ...places.flatMap((place) => this.#close(place)),
      ...this.#parts.end((delta) => this.#deltaText(event, delta)),
    ];
  }

  /** Releases the text that waits, because another kind of output follows. */
  #release(): Events {
    const event = this.#current?.event ?? {};
    return this.#parts.release((delta) => this.#deltaText(event, delta));
  }

  #delta(
    { bytes, text }: { readonly bytes: Buffer; readonly text: string },
    value: JsonObject,
    type: string,
  ): Events {
    const place = placeOf(value, type);
    const bare = this.#around(value, type);
    const given = this.#piece(place, type, bare);
    const isAlone = bare === value && !this.#parts.isWaiting;
    const event = isAlone ? NumberedEvent.of(text, "delta") : undefined;
    const push = (piece: string) => this.#piece(place, type, { ...bare, delta: piece }).text;
    this.#last = event && { event, guard: { push } };
    const { before, text: delta } = given;
    if (delta === "") return before;
    const own = this.#parts.behind(() => [
      this.#numbered(bytes, value, delta === value.delta ? bare : { ...bare, delta }),
    ]);
    return [...before, ...own];
  }

  /** Guards all texts of an event that are not pieces. */
  #around(value: JsonObject, type: string): JsonObject {
    const bare = withoutLogprobs(value);
    const empty = { ...bare, delta: "" };
    const mapped = mapTexts(empty, new CarriedTexts(this.#texts, type));
    return mapped === empty || !isJsonObject(mapped) ? bare : { ...mapped, delta: value.delta };
  }

  /** Guards a piece. Returns the events that precede it, and its decided text. */
  #piece(
    place: string,
    type: string,
    event: JsonObject,
  ): { readonly before: Events; readonly text: string } {
    const piece = String(event.delta);
    const isPart = PARTS.has(type);
    const isFree = this.#current === undefined || this.#current.place === place;
    // Texts of interleaved items are guarded separately.
    if (isPart && isFree && !this.#open.has(place)) {
      this.#current = { place, event };
      return this.#parts.push(piece);
    }
    const before = isPart ? [] : this.#release();
    const guard = this.#open.get(place)?.guard ?? this.#guardFor(type);
    this.#open.set(place, { guard, event });
    return { before, text: guard.push(piece) };
  }

  /**
   * Returns the client's output for an event that differs from the previous one only in its text and number; `undefined` if
   * it may differ in more.
   */
  #again(bytes: Buffer, text: string): readonly (string | Buffer)[] | undefined {
    if (this.#last === undefined || this.#sequence === undefined) return undefined;
    const { event, guard } = this.#last;
    const piece = event.textOf(text);
    if (piece === undefined) return undefined;
    const given = guard.push(piece);
    if (given === "") return [];
    const number = this.#sequence;
    this.#sequence += 1;
    if (given === piece && !event.hasPadding && event.isNumber(text, number)) return [bytes];
    return [event.withText(text, piece, given, number)];
  }

  #guardFor(type: string): PieceGuard {
    return type.endsWith("arguments.delta") ? this.#texts.openJson() : this.#texts.open();
  }

  #close(place: string): Events {
    if (this.#current?.place === place) {
      const { event } = this.#current;
      this.#current = undefined;
      return this.#parts.next((delta) => this.#deltaText(event, delta));
    }
    const open = this.#open.get(place);
    if (open === undefined) return [];
    this.#open.delete(place);
    const delta = open.guard.end();
    return delta === "" ? [] : this.#parts.behind(() => [this.#deltaText(open.event, delta)]);
  }

  /** Returns the event that continues a text. */
  #deltaText(event: JsonObject, delta: string): string {
    return this.#text({ ...withoutLogprobs(event), delta });
  }

  /** Returns the original event if neither its content nor its number changed. */
  #numbered(event: Buffer, before: JsonObject, after: JsonObject): string | Buffer {
    if (before === after && before.sequence_number === this.#sequence) {
      if (this.#sequence !== undefined) this.#sequence += 1;
      return event;
    }
    return this.#text(after);
  }

  #text(value: JsonObject): string {
    const type = String(value.type);
    if (this.#sequence === undefined) return eventText(type, JSON.stringify(value));
    const numbered = { ...value, sequence_number: this.#sequence };
    this.#sequence += 1;
    return eventText(type, JSON.stringify(numbered));
  }
}

/** Types of deltas that belong to consecutive items and parts. */
const PARTS: ReadonlySet<string> = new Set([
  "response.output_text.delta",
  "response.reasoning_text.delta",
  "response.reasoning_summary_text.delta",
]);

/** Whether an event starts an item of another kind. */
function isOther({ type, item }: JsonObject): boolean {
  if (type !== "response.output_item.added" || !isJsonObject(item)) return false;
  return item.type !== "message" && item.type !== "reasoning";
}

function placeOf(value: JsonObject, type: string): string {
  const {
    item_id: item,
    output_index: output,
    content_index: content,
    summary_index: summary,
  } = value;
  return [type, item, output, content, summary].join(" ");
}

function isLast(type: string): boolean {
  return /^(?:response\.(?:completed|incomplete|failed)|error)$/.test(type);
}

/** Tokens would reveal what is masked. */
function withoutLogprobs(value: JsonObject): JsonObject {
  const { logprobs } = value;
  return Array.isArray(logprobs) && logprobs.length > 0 ? { ...value, logprobs: [] } : value;
}
