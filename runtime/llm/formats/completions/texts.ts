import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "../../../cel/variables.ts";
import { mapList, mapObject } from "../../chat/map-values.ts";
import { isJsonObject } from "../../chat/request-object.ts";
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

/** Where chat completions have texts. */
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
  openStream: (texts) => new CompletionsTexts(texts),
};

/** A text of a choice that may go on in the next chunk. */
interface OpenText {
  /** The JSON of arguments: those of several tools may come by turns. */
  readonly json: PieceGuard | undefined;
  /** Any other text: a part of it ends where its choice is finished. */
  readonly said: PartedEvents;
  /** The choice that says more of it. */
  more: More;
}

/** The members of a choice that say more of a text. */
type More = (text: string) => JsonObject;

/** A text whose choice was finished, and the event that says more of it. */
interface FinishedText {
  readonly said: PartedEvents;
  readonly event: (text: string) => string;
}

/** What is seen of one choice. */
interface SeenChoice {
  readonly index: unknown;
  /** By place. */
  readonly open: Map<string, OpenText>;
  /** The places that said something. */
  readonly seen: string[];
  /** Events that come first. */
  readonly before: (string | Buffer)[];
}

/** What a piece is one of. */
interface PieceSettings {
  readonly choice: SeenChoice;
  readonly isJson: boolean;
  readonly more: More;
}

class CompletionsTexts implements StreamTexts {
  readonly #texts: TextGuards;
  /** By choice, and by place in its deltas. */
  readonly #open = new Map<unknown, Map<string, OpenText>>();
  /** The last chunk: what is added looks like it. */
  #chunk: JsonObject = {};
  /** The text behind whose choice's end events wait. */
  #finished: FinishedText | undefined;
  /** Of the last event; undefined: it said something else too. */
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
    // What cannot be read cannot be guarded.
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

  /** What stands behind the end of a choice whose text waits, waits too. */
  #behind(events: Events): Events {
    return this.#finished?.said.behind(() => events) ?? events;
  }

  /** What the next event may be but for its text, where nothing else in this one says more than that text. */
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
    if (open === undefined || this.#finished?.said.isWaiting === true) return undefined;
    const event = RepeatedEvent.of(text, key);
    return event && { event, guard: { push: (piece) => open.said.push(piece).text } };
  }

  end(): Events {
    const all = [...this.#open].flatMap(([index, open]) =>
      [...open.values()].map((text) => ({ index, text })),
    );
    const isFirst = ({ text }: { text: OpenText }) => text.said === this.#finished?.said;
    const ordered = [...all.filter(isFirst), ...all.filter((each) => !isFirst(each))];
    const rest = ordered.flatMap(({ index, text }) => this.#ended(index, text));
    this.#finished = undefined;
    this.#open.clear();
    return rest;
  }

  #ended(index: unknown, { json, said, more }: OpenText): Events {
    const event = (text: string) => this.#event(index, more(text));
    if (json === undefined) return said.end(event);
    const rest = json.end();
    return rest === "" ? [] : [event(rest)];
  }

  /** The choice of a chunk for the client; `before`: events that come first. */
  #choice(given: JsonObject, before: (string | Buffer)[]): JsonObject {
    const { index } = given;
    const open = this.#textsOf(index);
    const seen: SeenChoice = { index, open, seen: [], before };
    // Some servers say texts beside the delta.
    const choice = mapObject(given, (value, key) => {
      if (key === "delta" && isJsonObject(value)) return this.#delta(value, seen);
      if (isOfChunk(key, value)) return value;
      if (key === "finish_reason" || key === "index") {
        return this.#named({ [key]: value }, `choice ${index}`)[key];
      }
      const place = `choice ${key}`;
      const more = (said: unknown): JsonObject => ({ [key]: said });
      // Completions as they were before chats have their text here; other members are words that do not go on.
      if (typeof value === "string" && key !== "text") {
        return this.#released(place, value, { choice: seen, isJson: false, more });
      }
      return this.#member(value, seen, place, more);
    });
    if (seen.seen.length > 0) this.#turnTo(seen);
    const { finish_reason: finish, logprobs } = choice;
    // The tokens would say what was masked.
    const isTold = isJsonObject(logprobs);
    if (typeof finish === "string" && this.#finish(seen, choice)) {
      return { index, ...(isTold && { logprobs: null }), delta: {}, finish_reason: finish };
    }
    return isTold ? { ...choice, logprobs: null } : choice;
  }

  /** Other texts of the choice do not wait for those that go on. */
  #turnTo({ index, open, seen, before }: SeenChoice): void {
    if (open.size === seen.length) return;
    for (const [place, { json, said, more }] of open) {
      if (json !== undefined || seen.includes(place)) continue;
      before.push(...said.release((text) => this.#event(index, more(text))));
    }
  }

  /** The choice says nothing more; true: it waits, and all that it says has gone before it. */
  #finish({ index, open, before }: SeenChoice, choice: JsonObject): boolean {
    const rest: (string | Buffer)[] = [];
    for (const [place, text] of open) {
      const { json, said, more } = text;
      if (json === undefined) {
        if (this.#finished?.said !== said) this.#letGo(rest);
        const event = (each: string) => this.#event(index, text.more(each));
        rest.push(...said.next((each) => this.#event(index, more(each))));
        if (said.isWaiting) this.#finished = { said, event };
        continue;
      }
      open.delete(place);
      rest.push(...this.#ended(index, text));
    }
    if (rest.length === 0 && this.#finished?.said.isWaiting !== true) return false;
    const { finish_reason: _, logprobs: __, ...bare } = choice;
    if (!isEmptyChoice(bare)) {
      before.push(this.#chunkOf({ ...bare, finish_reason: null }));
    }
    before.push(...rest);
    return true;
  }

  /** Nothing waits any longer behind the end of a choice. */
  #letGo(output: (string | Buffer)[]): void {
    const { said, event } = this.#finished ?? {};
    if (said !== undefined && event !== undefined) output.push(...said.release(event));
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

  /** A member that may go on in the next chunk: a text, or a value with texts. */
  #member(
    value: unknown,
    choice: SeenChoice,
    place: string,
    more: (value: unknown) => JsonObject,
  ): unknown {
    if (typeof value === "string")
      return this.#piece(place, value, { choice, isJson: false, more });
    // Each chunk has others.
    if (place === "annotations") return mapTexts(value, this.#texts);
    return mapTexts(
      value,
      new NestedPieces(
        new CarriedTexts(this.#texts, place),
        (piece, { number, isPart, isJson }) => {
          // What a list says is one text. Other members say something else each time, or go on: they do not wait.
          const own = isPart ? place : `${place} ${number}`;
          const rest = (text: string) => more(mapTexts(value, new OnlyText(number, text)));
          const settings = { choice, isJson, more: rest };
          if (isPart || isJson) return this.#piece(own, piece, settings);
          return this.#released(own, piece, settings);
        },
      ),
    );
  }

  /** What is decided of a piece that does not wait for what comes. */
  #released(place: string, piece: string, settings: PieceSettings): string {
    let given = this.#piece(place, piece, settings);
    settings.choice.open.get(place)?.said.release((text) => {
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

  /** An object with its texts guarded, of which a later event may say more. */
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
      text = { json, said: new PartedEvents(this.#texts), more };
      open.set(place, text);
    }
    text.more = more;
    if (!seen.includes(place)) seen.push(place);
    if (this.#finished !== undefined && this.#finished.said !== text.said) this.#letGo(before);
    if (text.json !== undefined) return text.json.push(piece);
    const given = text.said.push(piece);
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
