import { bufferOf, type StreamStep } from "../chat/stream-step.ts";
import type { StreamTexts } from "../chat/texts.ts";
import type { GuardRun } from "./guard-run.ts";
import type { StreamStage } from "./prompt-guard.ts";

/** A stream whose texts are looked at as they pass: a piece waits only while a match may have begun in it. */
export class PatternStage implements StreamStage {
  readonly isWaiting = false;
  readonly #texts: StreamTexts;
  readonly #run: GuardRun;
  readonly #next: (step: StreamStep) => void;

  constructor(texts: StreamTexts, run: GuardRun, next: (step: StreamStep) => void) {
    this.#texts = texts;
    this.#run = run;
    this.#next = next;
  }

  push({ output: events, hasContent, state }: StreamStep): void {
    const guarded = this.#guarded(events);
    const { error } = this.#run;
    // What came before the match stays where it is: clients get nothing after it but the error.
    if (error !== undefined) {
      this.#next({ output: [], hasContent: false, state: error });
      return;
    }
    // A stream without an end mark has texts that still wait.
    const output = state === "ended" ? [...guarded, ...this.#texts.end()] : guarded;
    const isContent = hasContent && (output.length > 0 || state === "ended");
    this.#next({ output, hasContent: isContent, state });
  }

  fail(last: readonly (string | Uint8Array)[]): readonly (string | Uint8Array)[] {
    // What the gateway itself says is no text of the model.
    if (this.#run.error !== undefined) return last;
    return [...this.#texts.end(), ...this.#guarded(last)];
  }

  #guarded(events: readonly (string | Uint8Array)[]): readonly (string | Uint8Array)[] {
    const [first] = events;
    // Mostly it is one.
    if (first !== undefined && events.length === 1) return this.#texts.see(bufferOf(first));
    return events.flatMap((event) => this.#texts.see(bufferOf(event)));
  }
}
