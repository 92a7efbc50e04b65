import type { JsonObject } from "../../cel/variables.ts";
import type { CodeRange, JointSearch } from "../../patterns/joint-search.ts";
import { bufferOf, type StreamStep } from "../chat/stream-step.ts";
import type { StreamTexts, TextFormat } from "../chat/texts.ts";
import type { TextPart } from "../chat/whole-texts.ts";
import type { GuardRun } from "./guard-run.ts";
import { MaskedParts, NotedParts } from "./joined-parts.ts";
import type { PatternGuard } from "./pattern-guard.ts";
import { jointSearch, PatternTexts } from "./pattern-texts.ts";
import type { GuardStep, StreamStage, TextMap } from "./prompt-guard.ts";

/**
 * Combines consecutive guards with patterns into one step, so that each text is read once. `scope`: guarded parts of
 * requests; absent: all.
 */
export function patternGuards(
  guards: readonly PatternGuard[],
  scope?: readonly TextPart[],
): GuardStep {
  return new PatternGuards(guards, scope);
}

class PatternGuards implements GuardStep {
  readonly guards: readonly PatternGuard[];
  readonly #scope: readonly TextPart[] | undefined;
  readonly #joint: JointSearch | undefined;

  constructor(guards: readonly PatternGuard[], scope: readonly TextPart[] | undefined) {
    this.guards = guards;
    this.#scope = scope;
    this.#joint = jointSearch(guards);
  }

  guardObject(object: JsonObject, map: TextMap, run: GuardRun): JsonObject {
    const texts = new PatternTexts(this.guards, run, this.#scope, this.#joint);
    const noted = new NotedParts(texts, this.#scope);
    const guarded = map(object, noted);
    if (run.error !== undefined) return guarded;
    const across = noted.findAcross(this.guards, run);
    if (across === undefined) return guarded;
    // Matches within parts may be part of matches across them.
    run.forget(this.guards);
    for (const [guard, matches] of across.counts) {
      run.match(guard, matches);
      if (guard.rejection !== undefined) run.reject(guard, guard.rejection);
    }
    const masked = new MaskedParts(texts, this.#scope, across.ranges);
    return map(object, masked);
  }

  openJson(json: string): ((range: CodeRange) => boolean) | undefined {
    return this.#joint?.openJson(json);
  }

  openStage(format: TextFormat, run: GuardRun, next: (step: StreamStep) => void): StreamStage {
    const texts = new PatternTexts(this.guards, run, undefined, this.#joint);
    return new PatternStage(format.openStream(texts), run, next);
  }
}

/** Guards a stream with patterns as it passes: a piece waits only while a match may have started in it. */
class PatternStage implements StreamStage {
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
    // Text before the match is dropped, too: clients only get the error.
    if (error !== undefined) {
      this.#next({ output: [], hasContent: false, state: error });
      return;
    }
    // A stream without an end mark may have texts that still wait.
    const output = state === "ended" ? [...guarded, ...this.#texts.end()] : guarded;
    const isContent = hasContent && (output.length > 0 || state === "ended");
    this.#next({ output, hasContent: isContent, state });
  }

  fail(last: readonly (string | Uint8Array)[]): readonly (string | Uint8Array)[] {
    // The gateway's own error is not text of the model.
    if (this.#run.error !== undefined) return last;
    return [...this.#texts.end(), ...this.#guarded(last)];
  }

  #guarded(events: readonly (string | Uint8Array)[]): readonly (string | Uint8Array)[] {
    const [first] = events;
    // Fast path: there is mostly one event.
    if (first !== undefined && events.length === 1) return this.#texts.see(bufferOf(first));
    return events.flatMap((event) => this.#texts.see(bufferOf(event)));
  }
}
