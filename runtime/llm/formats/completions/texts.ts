import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import { mapList, mapObject } from "../../chat/map-values.ts";
import { SimpleKeys } from "../../chat/simple-keys.ts";
import {
  isRole,
  mapMembers,
  mapTexts,
  type PieceGuard,
  responseMembers,
  type StreamTexts,
  type TextFormat,
  type TextGuards,
} from "../../chat/texts.ts";
import { CarriedTexts } from "../carried-texts.ts";
import { NestedPieces, OnlyText } from "../nested-pieces.ts";
import { type Events, PartedEvents } from "../parted-events.ts";
import { BARE_COMMENT, readEvent } from "../read-event.ts";
import { RepeatedEvent, type RepeatedText, repeatedText } from "../repeated-event.ts";
import { CALL_TEXTS, isEmptyChoice, isOfChunk, withoutCallTexts } from "./empty-choice.ts";

/** Texts of chat completions. */
export const completionsTexts: TextFormat = {
  request: [
    ...["messages", "tools", "functions", "prediction", "response_format"],
    ...["web_search_options", "tool_choice", "function_call", "stop", "metadata"],
  ],
  plain: new Set([
    ...["model", "stream", "stream_options", "max_tokens", "max_completion_tokens", "n"],
    ...["temperature", "top_p", "frequency_penalty", "presence_penalty", "seed", "logit_bias"],
    ...["logprobs", "top_logprobs", "parallel_tool_calls"],
    ...["reasoning_effort", "verbosity", "modalities", "audio", "user", "safety_identifier"],
    ...["store", "service_tier", "prompt_cache_key", "prompt_cache_retention"],
  ]),
  response: ["choices"],
  plainResponse: new Set([
    ...["id", "object", "created", "model", "usage", "service_tier", "system_fingerprint"],
    ...["provider", "prompt_filter_results"],
  ]),
  simple: {
    request: new SimpleKeys([
      ...["model", "messages", "role", "content", "stream", "stream_options", "include_usage"],
      ...["max_tokens", "max_completion_tokens", "temperature", "top_p", "n", "seed", "stop"],
      ...["frequency_penalty", "presence_penalty", "reasoning_effort", "verbosity", "user"],
      ...["store", "service_tier", "parallel_tool_calls"],
    ]),
    response: new SimpleKeys([
      ...["id", "object", "created", "model", "choices", "index", "message", "role", "content"],
      ...["refusal", "annotations", "logprobs", "finish_reason", "tool_calls", "function_call"],
      ...["usage", "prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details"],
      ...["completion_tokens_details", "cached_tokens", "audio_tokens", "reasoning_tokens"],
      ...["accepted_prediction_tokens", "rejected_prediction_tokens", "service_tier"],
      ...["system_fingerprint"],
    ]),
  },
  openStream: (texts) => new CompletionsTexts(texts),
};

/** A text of a choice that the next chunk may continue. */
interface OpenText {
  /** Guard for JSON arguments; those of several tools may be interleaved. */
  readonly json: PieceGuard | undefined;
  /** Guard for any other text: a part of it ends where its choice is finished. */
  readonly parts: PartedEvents;
  /** Creates a choice that continues it. */
  more: More;
}

/** Creates the members of a choice that continue a text. */
type More = (text: string) => JsonObject;

/** A text whose choice is finished, and the event that continues it. */
interface FinishedText {
  readonly parts: PartedEvents;
  readonly event: (text: string) => string;
}

/** State of one choice of an event. */
interface SeenChoice {
  readonly index: unknown;
  /** By place. */
  readonly open: Map<string, OpenText>;
  /** Places with content. */
  readonly seen: string[];
  /** Events that precede this one. */
  readonly before: (string | Buffer)[];
}

/** Context of a piece. */
interface PieceSettings {
  readonly choice: SeenChoice;
  readonly isJson: boolean;
  readonly more: More;
}

class CompletionsTexts implements StreamTexts {
  readonly #texts: TextGuards;
  /** By choice, and by place in its deltas. */
  readonly #open = new Map<unknown, Map<string, OpenText>>();
  /** Last chunk, the template of added ones. */
  #chunk: JsonObject = {};
  /** The text that waits at the end of its choice, together with the events after it. */
  #finished: FinishedText | undefined;
  /** Text of the last event; `undefined` if the event had other content too. */
  #last: RepeatedText | undefined;

  constructor(texts: TextGuards) {
    this.#texts = texts;
  }

  see(given: Buffer): Events {
    const whole = given.toString("utf8");
    const again = this.#last && repeatedText(this.#last, given, whole);
    if (again !== undefined) return again;
    this.#last = undefined;
    const read = readEvent(given, whole, this.#texts);
    if (read === undefined) return this.#behind([BARE_COMMENT]);
    const { bytes: event, text, data, object: chunk } = read;
    if (data === "[DONE]") return [...this.end(), event];
    // Events that cannot be parsed cannot be guarded.
    if (chunk === undefined) return [];
    const hasChoices = Array.isArray(chunk.choices);
    const members = responseMembers(chunk, completionsTexts).filter(
      (key) => !(hasChoices && key === "choices"),
    );
    const around = members.reduce(
      (object, key) => mapMembers(object, [key], new CarriedTexts(this.#texts, key)),
      chunk,
    );
    if (!Array.isArray(chunk.choices) || chunk.choices.length === 0) {
      return this.#behind([around === chunk ? event : eventText(around)]);
    }
    this.#chunk = chunk;
    const before: (string | Buffer)[] = [];
    const own: readonly unknown[] = chunk.choices;
    const choices = own.map((choice) =>
      isJsonObject(choice) ? this.#choice(choice, before) : mapTexts(choice, this.#texts),
    );
    this.#last = this.#repeatable(text, chunk, own);
    const isSame = around === chunk && choices.every((each, index) => each === own[index]);
    const isEmpty =
      !isSame && members.length === 0 && choices.every(isEmptyChoice) && !isJsonObject(chunk.usage);
    if (isEmpty) return before;
    return [...before, ...this.#behind([isSame ? event : eventText({ ...around, choices })])];
  }

  /** Holds back events after the end of a choice whose text waits. */
  #behind(events: Events): Events {
    return this.#finished?.parts.behind(() => events) ?? events;
  }

  /** Returns the template of the next event, if the text is the only content of this one. */
  #repeatable(
    text: string,
    { usage }: JsonObject,
    [choice, ...others]: readonly unknown[],
  ): RepeatedText | undefined {
    if (!isJsonObject(choice) || others.length > 0 || isJsonObject(usage)) return undefined;
    const { index, delta, finish_reason: finish, logprobs } = choice;
    const [key = "", ...more] = isJsonObject(delta) ? Object.keys(delta) : [];
    if (more.length > 0 || typeof finish === "string" || isJsonObject(logprobs)) return undefined;
    const open = this.#open.get(index)?.get(key);
    if (open === undefined || this.#finished?.parts.isWaiting === true) return undefined;
    const event = RepeatedEvent.of(text, key);
    return event && { event, guard: { push: (piece) => open.parts.push(piece).text } };
  }

  end(): Events {
    const all = [...this.#open].flatMap(([index, open]) =>
      [...open.values()].map((text) => ({ index, text })),
    );
    const isFirst = ({ text }: { text: OpenText }) => text.parts === this.#finished?.parts;
    const ordered = [...all.filter(isFirst), ...all.filter((each) => !isFirst(each))];
    const rest = ordered.flatMap(({ index, text }) => this.#ended(index, text));
    this.#finished = undefined;
    this.#open.clear();
    return rest;
  }

  #ended(index: unknown, { json, parts, more }: OpenText): Events {
    const event = (text: string) => this.#event(index, more(text));
    if (json === undefined) return parts.end(event);
    const rest = json.end();
    return rest === "" ? [] : [event(rest)];
  }

  /** Returns the choice of a chunk for the client. `before`: events that precede it. */
  #choice(given: JsonObject, before: (string | Buffer)[]): JsonObject {
    const { index } = given;
    const open = this.#textsOf(index);
    const seen: SeenChoice = { index, open, seen: [], before };
    // Some servers place texts next to the delta.
    const choice = mapObject(given, (value, key) => {
      if (key === "delta" && isJsonObject(value)) return this.#delta(value, seen);
      if (isOfChunk(key, value)) return value;
      if (key === "finish_reason" || key === "index") {
        return this.#named({ [key]: value }, `choice ${index}`)[key];
      }
      const place = `choice ${key}`;
      const more = (text: unknown): JsonObject => ({ [key]: text });
      // Legacy completions have their text here; other members are words that do not continue.
      if (typeof value === "string" && key !== "text") {
        return this.#released(place, value, { choice: seen, isJson: false, more });
      }
      return this.#member(value, seen, place, more);
    });
    if (seen.seen.length > 0) this.#turnTo(seen);
    const { finish_reason: finish, logprobs } = choice;
    // Tokens would reveal what is masked.
    const hasLogprobs = isJsonObject(logprobs);
    if (typeof finish === "string" && this.#finish(seen, choice)) {
      return { index, ...(hasLogprobs && { logprobs: null }), delta: {}, finish_reason: finish };
    }
    return hasLogprobs ? { ...choice, logprobs: null } : choice;
  }

  /** Releases other texts of the choice, which do not wait for the current ones. */
  #turnTo({ index, open, seen, before }: SeenChoice): void {
    if (open.size === seen.length) return;
    for (const [place, { json, parts, more }] of open) {
      if (json !== undefined || seen.includes(place)) continue;
      before.push(...parts.release((text) => this.#event(index, more(text))));
    }
  }

  /** Ends the texts of a choice. Returns true if its end waits, with its content in events before it. */
  #finish({ index, open, before }: SeenChoice, choice: JsonObject): boolean {
    const rest: (string | Buffer)[] = [];
    for (const [place, text] of open) {
      const { json, parts, more } = text;
      if (json === undefined) {
        if (this.#finished?.parts !== parts) this.#releaseFinished(rest);
        const event = (each: string) => this.#event(index, text.more(each));
        rest.push(...parts.next((each) => this.#event(index, more(each))));
        if (parts.isWaiting) this.#finished = { parts, event };
        continue;
      }
      open.delete(place);
      rest.push(...this.#ended(index, text));
    }
    if (rest.length === 0 && this.#finished?.parts.isWaiting !== true) return false;
    const { finish_reason: _, logprobs: __, ...bare } = choice;
    if (!isEmptyChoice(bare)) {
      before.push(this.#chunkOf({ ...bare, finish_reason: null }));
    }
    before.push(...rest);
    return true;
  }

  /** Releases what waits at the end of a choice. */
  #releaseFinished(output: (string | Buffer)[]): void {
    const { parts, event } = this.#finished ?? {};
    if (parts !== undefined && event !== undefined) output.push(...parts.release(event));
    this.#finished = undefined;
  }

  #textsOf(index: unknown): Map<string, OpenText> {
    let open = this.#open.get(index);
    if (open === undefined) {
      open = new Map();
      this.#open.set(index, open);
    }
    return open;
  }

  #delta(delta: JsonObject, choice: SeenChoice): JsonObject {
    return mapObject(delta, (value, key) => {
      if (key === "role" && typeof value === "string" && isRole(value)) return value;
      if (key === "tool_calls" && Array.isArray(value)) {
        return mapList(value, (call) =>
          isJsonObject(call) ? this.#call(call, choice) : mapTexts(call, this.#texts),
        );
      }
      return this.#member(value, choice, key, (text) => ({ delta: { [key]: text } }));
    });
  }

  /** Guards a member that the next chunk may continue: a text, or a value with texts. */
  #member(
    value: unknown,
    choice: SeenChoice,
    place: string,
    more: (value: unknown) => JsonObject,
  ): unknown {
    if (typeof value === "string")
      return this.#piece(place, value, { choice, isJson: false, more });
    // Each chunk has different ones.
    if (place === "annotations") return mapTexts(value, this.#texts);
    return mapTexts(
      value,
      new NestedPieces(
        new CarriedTexts(this.#texts, place),
        (piece, { number, isPart, isJson }) => {
          // The items of a list are one text. Other members differ in each event, or continue without waiting.
          const own = isPart ? place : `${place} ${number}`;
          const rest = (text: string) => more(mapTexts(value, new OnlyText(number, text)));
          const settings = { choice, isJson, more: rest };
          if (isPart || isJson) return this.#piece(own, piece, settings);
          return this.#released(own, piece, settings);
        },
      ),
    );
  }

  /** Returns the decided part of a piece that does not wait for the next one. */
  #released(place: string, piece: string, settings: PieceSettings): string {
    let given = this.#piece(place, piece, settings);
    settings.choice.open.get(place)?.parts.release((text) => {
      given += text;
      return "";
    });
    return given;
  }

  #call(given: JsonObject, choice: SeenChoice): JsonObject {
    const { index } = given;
    let call = this.#named(withoutCallTexts(given), `call ${choice.index} ${index}`);
    let isSame = true;
    for (const [part, key, isJson] of CALL_TEXTS) {
      const own = given[part];
      if (!isJsonObject(own) || typeof own[key] !== "string") continue;
      const more: More = (text) => ({
        delta: { tool_calls: [{ index, [part]: { [key]: text } }] },
      });
      const text = this.#piece(`${part} ${index}`, own[key], { choice, isJson, more });
      isSame &&= text === own[key];
      const object = call[part];
      call = { ...call, [part]: { ...(isJsonObject(object) && object), [key]: text } };
    }
    return isSame && isDeepStrictEqual(call, given) ? given : call;
  }

  /** Guards the texts of an object that a later event may continue. */
  #named(object: JsonObject, kind: string): JsonObject {
    const mapped = mapTexts(object, new CarriedTexts(this.#texts, kind));
    return isJsonObject(mapped) ? mapped : {};
  }

  #piece(place: string, piece: string, { choice, isJson, more }: PieceSettings): string {
    const { open, seen, before } = choice;
    if (piece === "") return piece;
    let text = open.get(place);
    if (text === undefined) {
      const json = isJson ? this.#texts.openJson() : undefined;
      text = { json, parts: new PartedEvents(this.#texts), more };
      open.set(place, text);
    }
    text.more = more;
    if (!seen.includes(place)) seen.push(place);
    if (this.#finished !== undefined && this.#finished.parts !== text.parts)
      this.#releaseFinished(before);
    if (text.json !== undefined) return text.json.push(piece);
    const given = text.parts.push(piece);
    before.push(...given.before);
    return given.text;
  }

  #event(index: unknown, members: JsonObject): string {
    return this.#chunkOf({ index, delta: {}, ...members, finish_reason: null });
  }

  #chunkOf(choice: JsonObject): string {
    const { usage: _, ...chunk } = this.#chunk;
    return eventText({ ...chunk, choices: [choice] });
  }
}

function eventText(chunk: JsonObject): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}
