import type { JsonObject } from "../../cel/variables.ts";
import type { JointAutomaton } from "../../patterns/joint-automaton.ts";
import type { StreamStep } from "../chat/stream-step.ts";
import { mapMembers, type TextFormat } from "../chat/texts.ts";
import type { TextPart } from "../chat/whole-texts.ts";
import type { GuardRun } from "./guard-run.ts";
import { MaskedParts, NotedParts } from "./joined-parts.ts";
import type { PatternGuard } from "./pattern-guard.ts";
import { PatternStage } from "./pattern-stage.ts";
import { jointAutomaton, PatternTexts } from "./pattern-texts.ts";
import type { GuardStep, StreamStage } from "./prompt-guard.ts";

/** Guards one after the other that look for patterns: each text passes all of them at once. `scope`: texts of requests; absent: all. */
export function patternGuards(
  guards: readonly PatternGuard[],
  scope?: readonly TextPart[],
): GuardStep {
  return new PatternGuards(guards, scope);
}

class PatternGuards implements GuardStep {
  readonly guards: readonly PatternGuard[];
  readonly #scope: readonly TextPart[] | undefined;
  readonly #automaton: JointAutomaton | undefined;

  constructor(guards: readonly PatternGuard[], scope: readonly TextPart[] | undefined) {
    this.guards = guards;
    this.#scope = scope;
    this.#automaton = jointAutomaton(guards);
  }

  guardMembers(body: JsonObject, keys: readonly string[], run: GuardRun): JsonObject {
    const texts = new PatternTexts(this.guards, run, this.#scope, this.#automaton);
    const noted = new NotedParts(texts, this.#scope);
    const guarded = mapMembers(body, keys, noted);
    if (run.error !== undefined) return guarded;
    const across = noted.findAcross(this.guards, run);
    if (across === undefined) return guarded;
    // What was found in the parts alone may be a part of it.
    run.forget(this.guards);
    for (const [guard, matches] of across.counts) {
      run.match(guard, matches);
      if (guard.rejection !== undefined) run.reject(guard, guard.rejection);
    }
    const masked = new MaskedParts(texts, this.#scope, across.ranges);
    return mapMembers(body, keys, masked);
  }

  openStage(format: TextFormat, run: GuardRun, next: (step: StreamStep) => void): StreamStage {
    const texts = new PatternTexts(this.guards, run, undefined, this.#automaton);
    return new PatternStage(format.openStream(texts), run, next);
  }
}
