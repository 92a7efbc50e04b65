import type { PatternGuard } from "../../../runtime/llm/guards/pattern-guard.ts";
import type { PromptGuardNode, RegexGuardNode } from "../../backends/ai/guards.ts";

/** What the guards of a route make of a text. */
export interface GuardTrial {
  readonly guards: readonly TriedGuard[];
  /** What is left of the text; undefined: it is rejected. */
  readonly text: string | undefined;
  /** What the client gets instead. */
  readonly rejection?: { readonly status: number; readonly message: string };
}

/** What one of them did. */
export interface TriedGuard {
  /** Its number in the configuration, and its kind: `2.webhook`. */
  readonly guard: string;
  /** `not asked`: it is a server, which nobody asks here; `not reached`: one before it has rejected. */
  readonly action: "pass" | "mask" | "reject" | "not asked" | "not reached";
  readonly matches: number;
}

/** Runs the patterns of guards over a text as the gateway does; servers are not asked. */
export async function tryGuards(
  { request, response }: PromptGuardNode,
  phase: "request" | "response",
  text: string,
): Promise<GuardTrial> {
  const guards: TriedGuard[] = [];
  let left: string | undefined = text;
  let rejection: GuardTrial["rejection"];
  for (const [index, node] of (phase === "request" ? request : response).entries()) {
    const guard = `${index + 1}.${node.kind}`;
    if (node.kind !== "regex" || left === undefined) {
      const action = left === undefined ? "not reached" : "not asked";
      guards.push({ guard, action, matches: 0 });
      continue;
    }
    const tried = await tryPatterns(node, phase, left);
    guards.push({ guard, action: tried.action, matches: tried.matches });
    left = tried.text;
    if (left === undefined && node.rejection !== undefined) {
      const { status, message, own } = node.rejection;
      rejection = { status, message: own?.body ?? message };
    }
  }
  return { guards, text: left, ...(rejection && { rejection }) };
}

async function tryPatterns(
  node: RegexGuardNode,
  phase: "request" | "response",
  text: string,
): Promise<
  Omit<TriedGuard, "guard" | "action"> & {
    action: "pass" | "mask" | "reject";
    text: string | undefined;
  }
> {
  const { GuardRun } = await import("../../../runtime/llm/guards/guard-run.ts");
  const { PatternTexts } = await import("../../../runtime/llm/guards/pattern-texts.ts");
  const { MODEL_PLACE } = await import("../../../runtime/llm/chat/texts.ts");
  const guard = await patternGuard(node);
  const run = new GuardRun(phase);
  const given = new PatternTexts([guard], run).replace(text, MODEL_PLACE);
  const { matches } = run.outcomeOf(guard);
  if (run.error !== undefined) return { action: "reject", matches, text: undefined };
  return { action: matches === 0 ? "pass" : "mask", matches, text: given };
}

/** The guard as generated code has it. */
async function patternGuard({ patterns, rejection }: RegexGuardNode): Promise<PatternGuard> {
  const named = await import("../../../runtime/llm/guards/named-patterns.ts");
  const { guardPattern, maskPatterns, rejectPatterns } = await import(
    "../../../runtime/llm/guards/pattern-guard.ts"
  );
  const given = patterns.map((each) =>
    each.kind === "named" ? named[each.name]() : guardPattern(each.pattern, each.longest),
  );
  return rejection === undefined ? maskPatterns(given) : rejectPatterns(given, rejection);
}
