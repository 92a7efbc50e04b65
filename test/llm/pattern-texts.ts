import { GuardRun } from "../../runtime/llm/guards/guard-run.ts";
import type { PatternGuard } from "../../runtime/llm/guards/pattern-guard.ts";
import { PatternTexts } from "../../runtime/llm/guards/pattern-texts.ts";

/** Texts on their way to a client. */
export function textsFor(guards: readonly PatternGuard[]): PatternTexts {
  return new PatternTexts(guards, new GuardRun("response"));
}
