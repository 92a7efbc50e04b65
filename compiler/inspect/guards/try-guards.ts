import type { PatternGuard } from "../../../runtime/llm/guards/pattern-guard.ts";
import type { PromptGuardNode, RegexGuardNode } from "../../backends/ai/guards.ts";

/** Result of running the guards of a route on a text. */
export interface GuardTrial {
  readonly guards: readonly TriedGuard[];
  /** The text after masking; `undefined` if it is rejected. */
  readonly text: string | undefined;
  /** Response to the client if it is rejected. */
  readonly rejection?: { readonly status: number; readonly message: string };
}

/** Result of one guard. */
export interface TriedGuard {
  /** Its number in the configuration, and its kind: `2.webhook`. */
  readonly guard: string;
  /** `not called`: it is an external server; `not reached`: an earlier guard rejected the text. */
  readonly action: "pass" | "mask" | "reject" | "not called" | "not reached";
  readonly matches: number;
}

/** Runs the patterns of guards on a text as the gateway does; external servers are not called. */
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
      const action = left === undefined ? "not reached" : "not called";
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

/** Creates the guard as generated code does. */
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
