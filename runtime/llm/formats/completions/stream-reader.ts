import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import type { LostFields } from "../../chat/response-fields.ts";
import type { StreamEvent } from "../../chat/stream-event.ts";
import { cutOff, notJson, unreadable } from "../broken-stream.ts";
import { isFilledText, parseObject } from "../parse-object.ts";
import { RepeatedEvent } from "../repeated-event.ts";
import { withTier } from "../service-tiers.ts";
import type { SseEventReader } from "../sse-stream-reader.ts";
import { readFailure } from "./errors.ts";
import { ReasoningDetails } from "./reasoning-details.ts";
import { completionsResponseFields } from "./response-fields.ts";
import {
  argumentsText,
  citedPages,
  contentPieces,
  mediaIn,
  messageCalls,
  readFinish,
  thoughtSignature,
} from "./response-reader.ts";
import { readCompletionsUsage } from "./usage.ts";

/** Reads a stream of chat completions. */
export class CompletionsEventReader implements SseEventReader {
  #hasStarted = false;
  #hasStopped = false;
  /** Arguments of each call so far, by its number. */
  readonly #calls = new Map<number, CallArguments>();
  /** The latest call of each index of the server. */
  readonly #latest = new Map<number, NumberedCall>();
  readonly #byId = new Map<string, NumberedCall>();
  /** Content that arrived before the arguments of a call were complete. Other formats cannot interleave them. */
  #held: StreamEvent[] = [];
  /** Index of the latest call. */
  #last = 0;
  readonly #details = new ReasoningDetails();
  /** The chunk before, if it was only a text: most later ones differ only in that. */
  #repeated: RepeatedEvent | undefined;
  readonly #lost: LostFields | undefined;

  /** `lost`: takes the fields that other formats do not express. */
  constructor(lost?: LostFields) {
    this.#lost = lost;
  }

  read(data: string): readonly StreamEvent[] {
    const text = this.#repeated?.textOf(data);
    if (text !== undefined) return [{ kind: "text", text }];
    this.#repeated = undefined;
    if (data === "[DONE]") {
      // A stream without chunks is no completion.
      return this.#hasStarted ? [...this.#release(), { kind: "end" }] : [cutOff];
    }
    const chunk = parseObject(data);
    if (chunk === undefined) return [notJson];
    this.#lost?.note(chunk, completionsResponseFields);
    if (chunk.error !== undefined && chunk.error !== null)
      return [{ kind: "error", error: readFailure(chunk.error) }];
    const events: StreamEvent[] = [];
    if (!this.#hasStarted) {
      this.#hasStarted = true;
      const { id, model } = chunk;
      events.push({
        kind: "start",
        id: typeof id === "string" && id !== "" ? id : undefined,
        model: typeof model === "string" ? model : "",
      });
    }
    const [choice] = Array.isArray(chunk.choices) ? chunk.choices : [];
    if (isJsonObject(choice)) this.#readChoice(choice, events);
    const usage = withTier(readCompletionsUsage(chunk.usage), "openai", chunk.service_tier);
    if (usage !== undefined) events.push({ kind: "usage", usage });
    const isText = events.length === 1 && events[0]?.kind === "text" && isPlainDelta(choice);
    if (isText) this.#repeated = RepeatedEvent.of(data, "content");
    return events;
  }

  /** Some servers omit the end mark: a finish reason counts as an end too. */
  close(): readonly StreamEvent[] {
    return [...this.#release(), this.#hasStopped ? { kind: "end" } : cutOff];
  }

  #readChoice(choice: JsonObject, events: StreamEvent[]): void {
    const delta = isJsonObject(choice.delta) ? choice.delta : {};
    this.#details.add(delta.reasoning_details);
    const content = contentOf(delta);
    if (content === undefined) {
      events.push(unreadable);
      return;
    }
    if (content.length > 0 && this.#isCalling) this.#held.push(...content);
    else events.push(...content);
    for (const call of messageCalls(delta)) this.#readCall(call, events);
    if (this.#held.length > 0 && !this.#isCalling) events.push(...this.#release());
    if (typeof choice.finish_reason === "string" && !this.#hasStopped) {
      this.#hasStopped = true;
      events.push(...this.#release());
      const { signature } = this.#details;
      if (signature !== undefined) events.push({ kind: "signature", signature });
      const reason = readFinish(choice.finish_reason, this.#calls.size > 0);
      events.push({ kind: "stop", reason, stopSequence: undefined });
    }
  }

  /** Whether the arguments of a call are incomplete. */
  get #isCalling(): boolean {
    return this.#calls.values().some((each) => !each.areComplete);
  }

  #release(): readonly StreamEvent[] {
    const held = this.#held;
    this.#held = [];
    return held;
  }

  #readCall(call: JsonObject, events: StreamEvent[]): void {
    const named = isJsonObject(call.function) ? call.function : {};
    const { index, isNew, id } = this.#numberOf(call, isFilledText(named.name));
    const called = this.#calls.get(index) ?? new CallArguments();
    if (isNew) {
      this.#calls.set(index, called);
      const name = typeof named.name === "string" ? named.name : "";
      events.push({ kind: "tool-call", index, id, name, signature: thoughtSignature(call) });
    }
    if (isEmpty(named.arguments)) return;
    const text = argumentsText(named.arguments);
    if (text === undefined) {
      events.push(unreadable);
      return;
    }
    called.add(text);
    events.push({ kind: "tool-input", index, text });
  }

  /**
   * Returns the call of a piece. Some servers give all calls the index 0, or none at all: a piece with a new id and a name
   * begins a call.
   */
  #numberOf(
    { id: given, index: at }: JsonObject,
    isNamed: boolean,
  ): { readonly index: number; readonly isNew: boolean; readonly id: string } {
    const id = isFilledText(given) ? given : undefined;
    const index = typeof at === "number" ? at : undefined;
    const known = this.#known(id, index, isNamed);
    if (known !== undefined) return { ...known, isNew: false };
    const call = { id: id ?? `call_${this.#calls.size}`, index: this.#calls.size };
    this.#last = index ?? call.index;
    this.#latest.set(this.#last, call);
    this.#byId.set(call.id, call);
    return { ...call, isNew: true };
  }

  /** Returns the call that a piece continues; `undefined` if it begins one. */
  #known(
    id: string | undefined,
    index: number | undefined,
    isNamed: boolean,
  ): NumberedCall | undefined {
    const named = id === undefined ? undefined : this.#byId.get(id);
    if (named !== undefined) return named;
    if (index === undefined && isNamed) return undefined;
    const latest = this.#latest.get(index ?? this.#last);
    return id !== undefined && isNamed ? undefined : latest;
  }
}

/** A call of a stream: its id, and its number from 0. */
interface NumberedCall {
  readonly id: string;
  readonly index: number;
}

/** Arguments of a call as they arrive. They are parsed only where they may be complete. */
class CallArguments {
  #text = "";
  #areComplete: boolean | undefined;

  add(text: string): void {
    this.#text += text;
    this.#areComplete = undefined;
  }

  /** Whether they are an object. */
  get areComplete(): boolean {
    this.#areComplete ??=
      this.#text.trimEnd().endsWith("}") && parseObject(this.#text) !== undefined;
    return this.#areComplete;
  }
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

/** Returns the reasoning and text of a chunk; `undefined` if its content cannot be read. */
function contentOf(delta: JsonObject): readonly StreamEvent[] | undefined {
  const events: StreamEvent[] = [];
  const reasoning = delta.reasoning_content ?? delta.reasoning;
  if (typeof reasoning === "string" && reasoning !== "") {
    events.push({ kind: "reasoning", text: reasoning });
  }
  const signature = delta.reasoning_signature;
  if (typeof signature === "string") events.push({ kind: "signature", signature });
  const content = contentPieces(delta.content);
  if (content === undefined || mediaIn(delta) !== undefined) return undefined;
  events.push(...content);
  const { refusal } = delta;
  if (isFilledText(refusal)) events.push({ kind: "text", text: refusal, isRefusal: true });
  events.push(...citedPages(delta).map((page) => ({ kind: "citation" as const, page })));
  return events;
}

/** Whether a choice adds nothing but its content. */
function isPlainDelta(choice: unknown): boolean {
  const delta = isJsonObject(choice) && isJsonObject(choice.delta) ? choice.delta : {};
  return Object.entries(delta).every(
    ([name, value]) => name === "content" || name === "role" || value === null,
  );
}
