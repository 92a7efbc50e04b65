import type { PromptGuardNode } from "../backends/ai/guards.ts";
import { promptGuards } from "../backends/index.ts";
import type { Checked } from "../compile.ts";
import { suggest } from "../diagnostics/suggestion.ts";
import { checkInput } from "../inspect/check-input.ts";
import { type GuardTrial, tryGuards } from "../inspect/guards/try-guards.ts";
import { servedRoutes } from "../ir/routes.ts";
import type { Arguments, CommandContext, CommandResult } from "./command.ts";

/** `gwc eval --guard ROUTE TEXT`: runs the prompt guards of a route on a text; exit code 1 if they reject it. */
export async function evaluateGuards(
  route: string,
  { positionals: [text = ""], options }: Arguments,
  { host }: CommandContext,
): Promise<CommandResult> {
  const file = options.file ?? ".";
  const phase = options.phase ?? "request";
  if (phase !== "request" && phase !== "response") {
    return usage(`guards have no phase "${phase}"`, "use request or response");
  }
  const checked = checkInput([file], host, false);
  if (checked.programs.length === 0) return usage(`${file} is invalid`, "run `gwc check`");
  const guarded = guardedRoutes(checked);
  const guards = guarded.get(route);
  if (guards === undefined) {
    const names = [...guarded.keys()];
    const near = suggest(route, names) ?? names.join(", ");
    return usage(
      `no route "${route}" in ${file} has guards`,
      near && `routes with guards: ${near}`,
    );
  }
  const trials = await Promise.all(guards.map((each) => tryGuards(each, phase, text)));
  const exitCode = trials.some((trial) => trial.text === undefined) ? 1 : 0;
  const stdout =
    options.format === "json"
      ? `${JSON.stringify(trials.length === 1 ? trials[0] : trials)}\n`
      : trials.map(trialText).join("\n");
  return { exitCode, stdout };
}

/** Returns the prompt guards by route name, for routes that have any. */
function guardedRoutes({ programs }: Checked): ReadonlyMap<string, readonly PromptGuardNode[]> {
  const found = new Map<string, readonly PromptGuardNode[]>();
  for (const { route } of programs.flatMap(servedRoutes)) {
    const guards = route.backends.flatMap(promptGuards);
    if (guards.length > 0) found.set(route.name, guards);
  }
  return found;
}

function trialText({ guards, text, rejection }: GuardTrial): string {
  const width = Math.max(0, ...guards.map(({ guard }) => guard.length));
  const lines = guards.map(({ guard, action, matches }) => {
    const count = matches === 0 ? "" : ` (${matches} ${matches === 1 ? "match" : "matches"})`;
    return `${guard.padEnd(width)}  ${action}${count}`;
  });
  const end =
    text === undefined ? `rejected: ${rejection?.status} ${rejection?.message}` : `text: ${text}`;
  return `${[...lines, end].join("\n")}\n`;
}

function usage(problem: string, hint: string): CommandResult {
  return { exitCode: 2, stderr: `error: ${problem}\n${hint === "" ? "" : `hint: ${hint}\n`}` };
}
