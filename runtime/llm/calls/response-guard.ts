import { SseFrames } from "../../http/body/sse.ts";
import { hasRepeatedKey } from "../../json/json-text.ts";
import type { MaybePromise } from "../../process/maybe-promise.ts";
import type { LlmError } from "../chat/llm-error.ts";
import { bufferOf, type StreamStep } from "../chat/stream-step.ts";
import { responseMembers, type TextFormat } from "../chat/texts.ts";
import { parseObject } from "../formats/parse-object.ts";
import { isClearJson } from "../guards/clear-json.ts";
import type { GuardRun } from "../guards/guard-run.ts";
import { guardedObject, membersMap } from "../guards/guarded-object.ts";
import type { GuardStep, StreamStage } from "../guards/prompt-guard.ts";
import { MAX_EVENT } from "./limits.ts";

/** Guards of one response. */
export interface ResponseGuard {
  readonly run: GuardRun;
  readonly steps: readonly GuardStep[];
  readonly format: TextFormat;
}

/**
 * Guards the texts of a whole response. Returns the response for the client, which is the same string if nothing changed;
 * the error of a guard that rejects it; or `undefined` if the response cannot be parsed, and so not be guarded. Synchronous if
 * the texts are clear.
 */
export function guardWhole(
  text: string,
  guard: ResponseGuard,
): MaybePromise<string | LlmError | undefined> {
  const { run, steps, format } = guard;
  const { simple } = format;
  const isClear = simple !== undefined && isClearJson(text, simple.response, steps, run);
  return isClear ? text : guardParsed(text, guard);
}

async function guardParsed(
  text: string,
  { run, steps, format }: ResponseGuard,
): Promise<string | LlmError | undefined> {
  const received = parseObject(text);
  // Readers differ on which of two members of the same name counts.
  if (received === undefined || hasRepeatedKey(text)) return undefined;
  const members = responseMembers(received, format);
  const body = await guardedObject(steps, received, membersMap(members), run);
  if (run.error !== undefined) return run.error;
  // If nothing is masked, the original string is used, because parsing drops details.
  const isMasked = [...run.outcomes.values()].some(({ matches }) => matches > 0);
  if (body === received || !isMasked) return text;
  return JSON.stringify(format.withoutCopies?.(body) ?? body);
}

/** Guards a response that is a text rather than JSON, in the same way. */
export async function guardText(
  text: string,
  guard: ResponseGuard,
): Promise<string | LlmError | undefined> {
  const guarded = await guardWhole(JSON.stringify({ text }), guard);
  if (typeof guarded !== "string") return guarded;
  const given = parseObject(guarded)?.text;
  return typeof given === "string" ? given : undefined;
}

/**
 * Guards the texts of a provider's error, before or within a response. Returns the guard's error if one rejects it. The
 * provider's own body is not forwarded, because it may have more texts.
 */
export async function guardError(
  error: LlmError,
  { run, steps }: Omit<ResponseGuard, "format">,
): Promise<LlmError> {
  const { message, field } = error;
  const original = { message, ...(field !== undefined && { field }) };
  const texts = await guardedObject(steps, original, membersMap(["message", "field"]), run);
  if (run.error !== undefined) return run.error;
  const guarded = { message: String(texts.message), field: field && String(texts.field) };
  return { ...error, ...guarded, own: undefined };
}

/** A stream whose texts pass guards before the client gets them. */
export class GuardedStream {
  readonly #stages: readonly StreamStage[];
  readonly #first: (step: StreamStep) => void;
  readonly #frames = new SseFrames(MAX_EVENT);

  /** `deliver` receives decided steps: at once, or after a guard's server has responded. */
  constructor({ steps, format, run }: ResponseGuard, deliver: (step: StreamStep) => void) {
    let next = deliver;
    this.#stages = steps
      .toReversed()
      .map((step) => {
        const stage = step.openStage(format, run, next);
        next = (each) => stage.push(each);
        return stage;
      })
      .toReversed();
    this.#first = next;
  }

  /** Whether further input would only wait. */
  get isWaiting(): boolean {
    return this.#stages.some(({ isWaiting }) => isWaiting);
  }

  push(step: StreamStep): void {
    const { output, areEvents, hasContent, state } = step;
    if (areEvents === true) this.#first(step);
    else this.#first({ output: this.#events(output), hasContent, state });
  }

  /** Returns the last events of a failed stream, after those that may precede them. */
  fail(last: string): string {
    let events: readonly (string | Uint8Array)[] = this.#events([last]);
    for (const stage of this.#stages) events = stage.fail(events);
    return events.map((event) => event.toString()).join("");
  }

  #events(output: StreamStep["output"]): readonly Buffer[] {
    // Events never exceed the maximum that the relay accepts.
    const eventsOf = (piece: string | Uint8Array) => this.#frames.push(bufferOf(piece)) ?? [];
    const [first] = output;
    if (first === undefined) return [];
    // Fast path: there is mostly one piece.
    return output.length === 1 ? eventsOf(first) : output.flatMap(eventsOf);
  }
}
