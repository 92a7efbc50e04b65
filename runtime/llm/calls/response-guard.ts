import { SseFrames } from "../../http/body/sse.ts";
import { hasRepeatedKey } from "../../json/json-text.ts";
import type { LlmError } from "../chat/llm-error.ts";
import { bufferOf, type StreamStep } from "../chat/stream-step.ts";
import { responseMembers, type TextFormat } from "../chat/texts.ts";
import { parseObject } from "../formats/parse-object.ts";
import type { GuardRun } from "../guards/guard-run.ts";
import { guardedMembers } from "../guards/guarded-members.ts";
import type { GuardStep, StreamStage } from "../guards/prompt-guard.ts";
import { MAX_EVENT } from "./limits.ts";

/** What guards one response. */
export interface ResponseGuard {
  readonly run: GuardRun;
  readonly steps: readonly GuardStep[];
  readonly format: TextFormat;
}

/**
 * A whole response for the client with its texts guarded, the same text when nothing of it is changed; the error when a
 * guard rejects it. Undefined: it cannot be read, and so not be guarded.
 */
export async function guardWhole(
  text: string,
  { run, steps, format }: ResponseGuard,
): Promise<string | LlmError | undefined> {
  const received = parseObject(text);
  // Readers differ on which of two members of one name counts.
  if (received === undefined || hasRepeatedKey(text)) return undefined;
  const members = responseMembers(received, format);
  const body = await guardedMembers(steps, received, members, run);
  if (run.error !== undefined) return run.error;
  // Nothing was masked: what else would be left out stays.
  const isMasked = [...run.outcomes.values()].some(({ matches }) => matches > 0);
  return body === received || !isMasked ? text : JSON.stringify(body);
}

/**
 * What a provider says in the place of a response, or of the rest of one, with its texts guarded; the error of the guard that
 * rejects it.
 */
export async function guardError(
  error: LlmError,
  { run, steps }: Omit<ResponseGuard, "format">,
): Promise<LlmError> {
  const { message, field } = error;
  const said = { message, ...(field !== undefined && { field }) };
  const texts = await guardedMembers(steps, said, ["message", "field"], run);
  if (run.error !== undefined) return run.error;
  return { ...error, message: String(texts.message), field: field && String(texts.field) };
}

/** A stream whose texts pass guards before the client gets them. */
export class GuardedStream {
  readonly #stages: readonly StreamStage[];
  readonly #first: (step: StreamStep) => void;
  readonly #frames = new SseFrames(MAX_EVENT);

  /** `deliver` gets what is decided: at once, or when a server has been asked. */
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

  /** What comes now would only wait. */
  get isWaiting(): boolean {
    return this.#stages.some(({ isWaiting }) => isWaiting);
  }

  push(step: StreamStep): void {
    const { output, areEvents, hasContent, state } = step;
    if (areEvents === true) this.#first(step);
    else this.#first({ output: this.#events(output), hasContent, state });
  }

  /** The last events of a stream that failed, with what may go out before them. */
  fail(last: string): string {
    let events: readonly (string | Uint8Array)[] = this.#events([last]);
    for (const stage of this.#stages) events = stage.fail(events);
    return events.map((event) => event.toString()).join("");
  }

  #events(output: StreamStep["output"]): readonly Buffer[] {
    // An event is never longer than what the relay takes.
    const eventsOf = (piece: string | Uint8Array) => this.#frames.push(bufferOf(piece)) ?? [];
    const [first] = output;
    if (first === undefined) return [];
    // Mostly it is one.
    return output.length === 1 ? eventsOf(first) : output.flatMap(eventsOf);
  }
}
