import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import {
  mapMembers,
  mapTexts,
  type PartsGuard,
  responseMembers,
  type StreamTexts,
  type TextFormat,
  type TextGuards,
} from "../../chat/texts.ts";
import { CarriedTexts } from "../carried-texts.ts";
import type { Events } from "../parted-events.ts";
import { BARE_COMMENT, readEvent } from "../read-event.ts";

/** Texts of Google's generateContent. */
export const generateContentTexts: TextFormat = {
  request: ["systemInstruction", "contents", "tools", "toolConfig", "generationConfig"],
  plain: new Set([
    // The path names them.
    ...["model", "stream"],
    ...["safetySettings", "cachedContent", "labels", "serviceTier", "store"],
  ]),
  response: ["candidates", "promptFeedback"],
  plainResponse: new Set([
    ...["usageMetadata", "modelVersion", "responseId", "createTime", "modelStatus"],
  ]),
  openStream: (texts) => new GenerateContentTexts(texts),
};

/** Texts of a candidate that its next parts continue: the completion, and the reasoning. */
interface OpenTexts {
  readonly text: PartsGuard;
  readonly thought: PartsGuard;
}

type TextKind = keyof OpenTexts;

const KINDS: readonly TextKind[] = ["thought", "text"];

/**
 * Guards a stream whose events are responses with the next parts. All texts of a candidate are one text; what comes between
 * them does not wait.
 */
class GenerateContentTexts implements StreamTexts {
  readonly #texts: TextGuards;
  /** By index of the candidate. */
  readonly #open = new Map<unknown, OpenTexts>();
  /** Members of finished candidates, by index. They wait until the end, because a text may continue after them. */
  readonly #finished = new Map<unknown, JsonObject>();
  /** Last event, the template of the one at the end. */
  #last: JsonObject = {};

  constructor(texts: TextGuards) {
    this.#texts = texts;
  }

  see(given: Buffer): Events {
    const read = readEvent(given, given.toString("utf8"), this.#texts);
    if (read === undefined) return [BARE_COMMENT];
    const { bytes, object: response } = read;
    // Events that cannot be parsed cannot be guarded.
    if (response === undefined) return [];
    const { candidates } = response;
    const hasCandidates = Array.isArray(candidates);
    const around = responseMembers(response, generateContentTexts)
      .filter((key) => !(hasCandidates && key === "candidates"))
      .reduce(
        (object, key) => mapMembers(object, [key], new CarriedTexts(this.#texts, key)),
        response,
      );
    if (!hasCandidates) return [around === response ? bytes : eventText(around)];
    this.#last = around;
    const own: readonly unknown[] = candidates;
    const guarded = own.map((each, index) =>
      isJsonObject(each) ? this.#candidate(each, index) : mapTexts(each, this.#texts),
    );
    const isSame = around === response && guarded.every((each, index) => each === own[index]);
    if (isSame) return [bytes];
    // Usage is repeated in later events.
    if (around === response && guarded.every(isEmpty)) return [];
    return [eventText({ ...around, candidates: guarded })];
  }

  end(): Events {
    const rest = [...new Set([...this.#open.keys(), ...this.#finished.keys()])].flatMap((index) => {
      const open = this.#open.get(index);
      const parts = KINDS.flatMap((kind) => textParts(kind, open?.[kind].end() ?? []));
      const finished = this.#finished.get(index);
      if (parts.length === 0 && finished === undefined) return [];
      return [{ content: { role: "model", parts }, index, ...finished }];
    });
    const { usageMetadata: usage, promptFeedback: _, ...event } = this.#last;
    // Usage belongs to the event that finishes.
    const members = this.#finished.size > 0 && usage !== undefined && { usageMetadata: usage };
    this.#open.clear();
    this.#finished.clear();
    return rest.length === 0 ? [] : [eventText({ ...event, ...members, candidates: rest })];
  }

  #candidate(given: JsonObject, at: number): JsonObject {
    const { content, index = at, ...others } = given;
    const around = this.#carried(others, `candidate ${index}`);
    const own = isJsonObject(content) ? this.#content(content, index) : content;
    const isFinished = typeof given.finishReason === "string";
    if (isFinished) this.#finished.set(index, { ...this.#finished.get(index), ...around });
    else if (around === others && own === content) return given;
    return {
      ...(content === undefined
        ? isFinished && { content: { role: "model", parts: [] } }
        : { content: isJsonObject(content) ? own : mapTexts(content, this.#texts) }),
      index,
      ...(!isFinished && around),
    };
  }

  /** Guards a content: its parts, and its other members. */
  #content(content: JsonObject, index: unknown): JsonObject {
    const { parts, ...others } = content;
    if (!Array.isArray(parts)) return this.#carried(content, `content ${index}`);
    const around = this.#carried(others, `content ${index}`);
    const guarded = parts.flatMap((part) => this.#part(part, index));
    const isSame =
      guarded.length === parts.length && guarded.every((part, at) => part === parts[at]);
    return isSame && around === others ? content : { ...around, parts: guarded };
  }

  /** Returns a part as guarded, after the texts that it ends; nothing if all of its text waits. */
  #part(part: unknown, index: unknown): readonly unknown[] {
    if (!isJsonObject(part)) return [...this.#released(index), mapTexts(part, this.#texts)];
    const { text, ...others } = part;
    const around = this.#carried(others, `part ${index} ${Object.keys(others).join()}`);
    if (typeof text !== "string") {
      const before = this.#released(index);
      if (!("text" in part)) return [...before, around === others ? part : around];
      return [...before, mapTexts(part, this.#texts)];
    }
    if (text === "") return [around === others ? part : { text, ...around }];
    const kind: TextKind = part.thought === true ? "thought" : "text";
    const before = this.#released(index, kind);
    const decided = this.#textsOf(index)[kind].push(text).join("");
    if (decided === text && around === others) return [...before, part];
    // A signature belongs to the text before it.
    const isBare = Object.keys(others).every((key) => key === "thought");
    return decided === "" && isBare ? before : [...before, { text: decided, ...around }];
  }

  /** Releases the texts of a candidate that another one follows: all, or those of another kind. */
  #released(index: unknown, next?: TextKind): readonly JsonObject[] {
    const open = this.#open.get(index);
    if (open === undefined) return [];
    return KINDS.filter((kind) => kind !== next).flatMap((kind) =>
      textParts(kind, open[kind].release()),
    );
  }

  #textsOf(index: unknown): OpenTexts {
    let open = this.#open.get(index);
    if (open === undefined) {
      open = { text: this.#texts.openParts(), thought: this.#texts.openParts() };
      this.#open.set(index, open);
    }
    return open;
  }

  /** Guards an object, whose texts later objects of this kind may continue. */
  #carried(object: JsonObject, kind: string): JsonObject {
    const mapped = mapTexts(object, new CarriedTexts(this.#texts, kind));
    return isJsonObject(mapped) ? mapped : {};
  }
}

function textParts(kind: TextKind, texts: readonly string[]): readonly JsonObject[] {
  const text = texts.join("");
  if (text === "") return [];
  return [kind === "thought" ? { text, thought: true } : { text }];
}

/** Whether a candidate is nothing but a content without parts. */
function isEmpty(candidate: unknown): boolean {
  if (!isJsonObject(candidate)) return false;
  const { content, index: _, ...others } = candidate;
  if (!isJsonObject(content) || Object.keys(others).length > 0) return false;
  return Array.isArray(content.parts) && content.parts.length === 0;
}

function eventText(response: JsonObject): string {
  return `data: ${JSON.stringify(response)}\n\n`;
}
