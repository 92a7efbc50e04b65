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
import { eventText } from "./errors.ts";
import { NumberedEvent } from "./numbered-event.ts";

/** Where the Responses API has texts. */
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
    // Of what was deleted, and of lists.
    ...["deleted", "has_more", "first_id", "last_id"],
  ]),
  openStream: (texts) => new ResponsesTexts(texts),
};

/** A text that may go on, and the event that said the last of it. */
interface OpenText {
  readonly guard: PieceGuard;
  readonly event: JsonObject;
}

/** The part that goes on of what the model says, and the event that said the last of it. */
interface OpenPart {
  readonly place: string;
  readonly event: JsonObject;
}

class ResponsesTexts implements StreamTexts {
  readonly #texts: TextGuards;
  /** What parts and items say one behind the other. */
  readonly #said: PartedEvents;
  #saying: OpenPart | undefined;
  /** Other texts, by the type of their events and their place in the response. */
  readonly #open = new Map<string, OpenText>();
  /** The number of the next event; undefined: the provider counts none. */
  #sequence: number | undefined;
  /** What the last event was but for its text and its number; undefined: it said something else too. */
  #last: { readonly event: NumberedEvent; readonly guard: Pick<PieceGuard, "push"> } | undefined;

  constructor(texts: TextGuards) {
    this.#texts = texts;
    this.#said = new PartedEvents(texts);
  }

  see(given: Buffer): Events {
    const whole = given.toString("utf8");
    const again = this.#again(given, whole);
    if (again !== undefined) return again;
    this.#last = undefined;
    const read = readEvent(given, whole, this.#texts);
    if (read === undefined) return this.#said.behind(() => [BARE_COMMENT]);
    const { bytes: event, text, object: value } = read;
    // What cannot be read cannot be guarded.
    if (value === undefined) return [];
    if (typeof value.type !== "string") {
      const mapped = mapTexts(value, new CarriedTexts(this.#texts, ""));
      const output = mapped === value ? event : `data: ${JSON.stringify(mapped)}\n\n`;
      return this.#said.behind(() => [output]);
    }
    if (typeof value.sequence_number === "number") this.#sequence ??= value.sequence_number;
    const { type } = value;
    const isPiece = type.endsWith(".delta") && typeof value.delta === "string";
    if (isPiece && type !== "response.audio.delta") {
      return this.#delta({ bytes: event, text }, value, type);
    }
    // Whatever comes in between ends no text of its own; what says that it is done does.
    const before = type.endsWith(".done")
      ? this.#close(placeOf(value, type.replace(/\.done$/, ".delta")))
      : isLast(type)
        ? this.end()
        : isOther(value)
          ? this.#release()
          : [];
    // What a text has become that waits is known when this goes out.
    const own = this.#said.behind(() => {
      const carried = new CarriedTexts(this.#texts, type);
      const mapped = mapTexts(withoutLogprobs(value), carried);
      return [this.#numbered(event, value, isJsonObject(mapped) ? mapped : value)];
    });
    return [...before, ...own];
  }

  end(): Events {
    const places = [...this.#open.keys()];
    const event = this.#saying?.event ?? {};
    this.#saying = undefined;
    return [
      ...places.flatMap((place) => this.#close(place)),
      ...this.#said.end((delta) => this.#deltaText(event, delta)),
    ];
  }

  /** What waits is let go: something else is said than the text that it may go on with. */
  #release(): Events {
    const event = this.#saying?.event ?? {};
    return this.#said.release((delta) => this.#deltaText(event, delta));
  }

  #delta(
    { bytes, text }: { readonly bytes: Buffer; readonly text: string },
    value: JsonObject,
    type: string,
  ): Events {
    const place = placeOf(value, type);
    const bare = this.#around(value, type);
    const given = this.#piece(place, type, bare);
    const isAlone = bare === value && !this.#said.isWaiting;
    const event = isAlone ? NumberedEvent.of(text, "delta") : undefined;
    const push = (piece: string) => this.#piece(place, type, { ...bare, delta: piece }).text;
    this.#last = event && { event, guard: { push } };
    const { before, text: delta } = given;
    if (delta === "") return before;
    const own = this.#said.behind(() => [
      this.#numbered(bytes, value, delta === value.delta ? bare : { ...bare, delta }),
    ]);
    return [...before, ...own];
  }

  /** The event with all texts guarded that are not pieces. */
  #around(value: JsonObject, type: string): JsonObject {
    const bare = withoutLogprobs(value);
    const empty = { ...bare, delta: "" };
    const mapped = mapTexts(empty, new CarriedTexts(this.#texts, type));
    return mapped === empty || !isJsonObject(mapped) ? bare : { ...mapped, delta: value.delta };
  }

  /** What goes out before a piece, and what is decided of its text. */
  #piece(
    place: string,
    type: string,
    event: JsonObject,
  ): { readonly before: Events; readonly text: string } {
    const piece = String(event.delta);
    const isPart = PARTS.has(type);
    const isFree = this.#saying === undefined || this.#saying.place === place;
    // Items by turns are texts of their own.
    if (isPart && isFree && !this.#open.has(place)) {
      this.#saying = { place, event };
      return this.#said.push(piece);
    }
    const before = isPart ? [] : this.#release();
    const guard = this.#open.get(place)?.guard ?? this.#guardFor(type);
    this.#open.set(place, { guard, event });
    return { before, text: guard.push(piece) };
  }

  /** What the client gets for an event that differs from the one before in its text and its number alone; undefined: it may differ in more. */
  #again(bytes: Buffer, text: string): readonly (string | Buffer)[] | undefined {
    if (this.#last === undefined || this.#sequence === undefined) return undefined;
    const { event, guard } = this.#last;
    const piece = event.textOf(text);
    if (piece === undefined) return undefined;
    const given = guard.push(piece);
    if (given === "") return [];
    const number = this.#sequence;
    this.#sequence += 1;
    if (given === piece && !event.hasFilling && event.isNumber(text, number)) return [bytes];
    return [event.withText(text, piece, given, number)];
  }

  #guardFor(type: string): PieceGuard {
    return type.endsWith("arguments.delta") ? this.#texts.openJson() : this.#texts.open();
  }

  #close(place: string): Events {
    if (this.#saying?.place === place) {
      const { event } = this.#saying;
      this.#saying = undefined;
      return this.#said.next((delta) => this.#deltaText(event, delta));
    }
    const open = this.#open.get(place);
    if (open === undefined) return [];
    this.#open.delete(place);
    const delta = open.guard.end();
    return delta === "" ? [] : this.#said.behind(() => [this.#deltaText(open.event, delta)]);
  }

  /** The event that says more of a text. */
  #deltaText(event: JsonObject, delta: string): string {
    return this.#text({ ...withoutLogprobs(event), delta });
  }

  /** The event as it came when nothing of it is another. */
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

/** What a model says by turns, one item and one part behind the other. */
const PARTS: ReadonlySet<string> = new Set([
  "response.output_text.delta",
  "response.reasoning_text.delta",
  "response.reasoning_summary_text.delta",
]);

/** Whether an item begins that says nothing of that. */
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

/** The tokens would say what was masked. */
function withoutLogprobs(value: JsonObject): JsonObject {
  const { logprobs } = value;
  return Array.isArray(logprobs) && logprobs.length > 0 ? { ...value, logprobs: [] } : value;
}
