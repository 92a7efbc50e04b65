import type { JsonObject } from "../../../cel/variables.ts";
import { mapObject } from "../../chat/map-values.ts";
import { isJsonObject } from "../../chat/request-object.ts";
import {
  mapMembers,
  mapTexts,
  modelPlace,
  type PieceGuard,
  responseMembers,
  type StreamTexts,
  type TextFormat,
  type TextGuards,
} from "../../chat/texts.ts";
import type { TextPlace } from "../../chat/whole-texts.ts";
import { dataOf } from "../event-bytes.ts";
import { parseObject } from "../parse-object.ts";
import { RepeatedEvent, type RepeatedText, repeatedText } from "../repeated-event.ts";

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

/** A text of a delta that may go on in the next one. */
interface OpenText {
  readonly guard: PieceGuard;
  /** It is the JSON of arguments: those of several tools may come by turns. */
  readonly isJson: boolean;
  /** The delta that says more of it. */
  readonly delta: (text: string) => JsonObject;
}

class CompletionsTexts implements StreamTexts {
  readonly #texts: TextGuards;
  /** By choice, and by place in its deltas. */
  readonly #open = new Map<unknown, Map<string, OpenText>>();
  /** The last chunk: what is added looks like it. */
  #chunk: JsonObject = {};
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
    if (data === "[DONE]") return [...this.end(), event];
    if (data === undefined) return [event];
    const chunk = parseObject(data);
    // What cannot be read cannot be guarded.
    if (chunk === undefined) return [];
    const hasChoices = Array.isArray(chunk.choices);
    const members = responseMembers(chunk, completionsTexts).filter(
      (key) => !(hasChoices && key === "choices"),
    );
    const around = mapMembers(chunk, members, this.#texts);
    if (!Array.isArray(chunk.choices) || chunk.choices.length === 0) {
      return [around === chunk ? event : eventText(around)];
    }
    this.#chunk = chunk;
    const before: string[] = [];
    const given: readonly unknown[] = chunk.choices;
    const choices = given.map((choice) =>
      isJsonObject(choice) ? this.#choice(choice, before) : mapTexts(choice, this.#texts),
    );
    this.#last = this.#repeatable(text, chunk, given);
    const isSame = around === chunk && choices.every((each, index) => each === given[index]);
    if (isSame) return before.length === 0 ? [event] : [...before, event];
    const isEmpty = members.length === 0 && choices.every(isEmptyChoice);
    return isEmpty && !isJsonObject(chunk.usage)
      ? before
      : [...before, eventText({ ...around, choices })];
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
    const event = open && RepeatedEvent.of(text, key);
    return event && { event, guard: open.guard };
  }

  end(): readonly string[] {
    const rest: string[] = [];
    for (const [index, open] of this.#open) this.#close(index, open, rest, () => true);
    return rest;
  }

  /** The choice of a chunk for the client; `before`: events that come first. */
  #choice(given: JsonObject, before: string[]): JsonObject {
    // Some servers say texts beside the delta.
    const choice = mapObject(given, (value, key) =>
      isOfChunk(key, value) ? value : mapTexts(value, this.#texts),
    );
    const { index, delta, finish_reason: finish, logprobs } = choice;
    const open = this.#textsOf(index);
    const seen: string[] = [];
    const changed = isJsonObject(delta) ? this.#delta(delta, open, seen) : delta;
    if (seen.length > 0 && open.size > seen.length) {
      this.#close(index, open, before, ({ isJson }, place) => !isJson && !seen.includes(place));
    }
    if (typeof finish === "string") {
      const rest: string[] = [];
      this.#close(index, open, rest, () => true);
      if (rest.length > 0) {
        if (!isEmptyDelta(changed)) before.push(this.#event(index, changed));
        before.push(...rest);
        return { ...choice, delta: {}, ...(isJsonObject(logprobs) && { logprobs: null }) };
      }
    }
    // The tokens would say what was masked.
    if (isJsonObject(logprobs)) return { ...choice, delta: changed, logprobs: null };
    return changed === delta ? choice : { ...choice, delta: changed };
  }

  #textsOf(index: unknown): Map<string, OpenText> {
    let open = this.#open.get(index);
    if (open === undefined) {
      open = new Map();
      this.#open.set(index, open);
    }
    return open;
  }

  #delta(delta: JsonObject, open: Map<string, OpenText>, seen: string[]): JsonObject {
    let changed: Record<string, unknown> | undefined;
    for (const key of Object.keys(delta)) {
      const value = delta[key];
      const next = this.#member(key, value, open, seen);
      if (next === value) continue;
      changed ??= { ...delta };
      changed[key] = next;
    }
    return changed ?? delta;
  }

  #member(key: string, value: unknown, open: Map<string, OpenText>, seen: string[]): unknown {
    if (key === "role") return value;
    if (typeof value === "string") {
      return this.#piece(key, value, { open, seen, isJson: false }, (text) => ({ [key]: text }));
    }
    if (key === "tool_calls" && Array.isArray(value)) {
      return same(
        value,
        value.map((call) => (isJsonObject(call) ? this.#call(call, open, seen) : call)),
      );
    }
    return mapTexts(value, this.#texts);
  }

  #call(given: JsonObject, open: Map<string, OpenText>, seen: string[]): JsonObject {
    const call = this.#withName(given);
    const { index } = call;
    for (const [part, key, isJson] of callTexts) {
      const object = call[part];
      if (!isJsonObject(object)) continue;
      const value = object[key];
      if (typeof value !== "string") {
        const mapped = mapTexts(value, this.#texts);
        if (mapped === value) continue;
        return { ...call, [part]: { ...object, [key]: mapped } };
      }
      const delta = (text: string) => ({ tool_calls: [{ index, [part]: { [key]: text } }] });
      const text = this.#piece(`${part} ${index}`, value, { open, seen, isJson }, delta);
      return text === value ? call : { ...call, [part]: { ...object, [key]: text } };
    }
    return call;
  }

  #withName(call: JsonObject): JsonObject {
    for (const [part] of callTexts) {
      const object = call[part];
      if (!isJsonObject(object)) continue;
      const { name } = object;
      const guarded = typeof name === "string" ? this.#texts.replace(name, toolName) : name;
      if (guarded !== name) return { ...call, [part]: { ...object, name: guarded } };
    }
    return call;
  }

  #piece(
    place: string,
    piece: string,
    { open, seen, isJson }: { open: Map<string, OpenText>; seen: string[]; isJson: boolean },
    delta: OpenText["delta"],
  ): string {
    if (piece === "") return piece;
    let text = open.get(place);
    if (text === undefined) {
      const guard = isJson ? this.#texts.openJson() : this.#texts.open();
      text = { guard, isJson, delta };
      open.set(place, text);
    }
    if (!seen.includes(place)) seen.push(place);
    return text.guard.push(piece);
  }

  #close(
    index: unknown,
    open: Map<string, OpenText>,
    output: string[],
    isOver: (text: OpenText, place: string) => boolean,
  ): void {
    for (const [place, text] of open) {
      if (!isOver(text, place)) continue;
      open.delete(place);
      const rest = text.guard.end();
      if (rest !== "") output.push(this.#event(index, text.delta(rest)));
    }
  }

  #event(index: unknown, delta: unknown): string {
    const { usage: _, ...chunk } = this.#chunk;
    return eventText({ ...chunk, choices: [{ index, delta, finish_reason: null }] });
  }
}

const toolName: TextPlace = { ...modelPlace, isName: true };

/** Where calls of tools say what is wanted of them, and whether it is JSON. */
const callTexts = [
  ["function", "arguments", true],
  ["custom", "input", false],
] as const;

function eventText(chunk: JsonObject): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

function same(list: readonly unknown[], changed: readonly unknown[]): readonly unknown[] {
  return changed.every((each, index) => each === list[index]) ? list : changed;
}

/** Whether a member is one that choices of chunks have, and is looked at as that. */
function isOfChunk(key: string, value: unknown): boolean {
  if (key === "delta" || key === "logprobs") return isJsonObject(value) || value === null;
  return key === "index" || key === "finish_reason";
}

/** Whether a delta says nothing. */
function isEmptyDelta(delta: unknown): boolean {
  if (!isJsonObject(delta)) return true;
  return Object.keys(delta).every((key) => {
    const value = delta[key];
    if (key !== "tool_calls" || !Array.isArray(value)) return value === "" || value === null;
    return value.every((call) => isJsonObject(call) && call.id === undefined && isEmptyCall(call));
  });
}

function isEmptyCall(call: JsonObject): boolean {
  return callTexts.every(([part, key]) => {
    const object = call[part];
    return !isJsonObject(object) || (object.name === undefined && object[key] === "");
  });
}

function isEmptyChoice(choice: unknown): boolean {
  if (!isJsonObject(choice)) return true;
  if (Object.entries(choice).some(([key, value]) => !isOfChunk(key, value))) return false;
  return typeof choice.finish_reason !== "string" && isEmptyDelta(choice.delta);
}
