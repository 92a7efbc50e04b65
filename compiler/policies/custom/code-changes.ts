import { diff } from "node:util";
import type { SettingsChange } from "../../model/access.ts";
import type { PolicySource } from "./read-policy.ts";

/** Unchanged lines that are shown around changed ones. */
const AROUND = 2;

/** Maximum number of lines of a change that are shown. */
const MAX_LINES = 60;

/** Returns the changed modules of a policy, each with its changed lines: what they mean for access is not decided. */
export function codeChanges(
  before: readonly PolicySource[],
  after: readonly PolicySource[],
): readonly SettingsChange[] {
  const old = new Map(before.map(({ module, text }) => [module, text]));
  return after.flatMap(({ module, text }): readonly SettingsChange[] => {
    const was = old.get(module);
    if (was === text) return [];
    const change = was === undefined ? "was added" : "changed";
    const what = `code of ${module} ${change}: its effect on access is not decided`;
    const lines = changedLines(was ?? "", text);
    return [{ direction: "changes", text: what, lines }];
  });
}

/** Lists changed lines with those around them: `@@ 12`, then lines that begin with ` `, `-` or `+`. */
function changedLines(before: string, after: string): readonly string[] {
  const lines = comparedLines(before, after);
  const isNear = (at: number) =>
    lines.slice(Math.max(0, at - AROUND), at + AROUND + 1).some((each) => !each.startsWith(" "));
  const shown: string[] = [];
  let number = 1;
  let isGap = true;
  for (const [at, line] of lines.entries()) {
    if (isNear(at)) shown.push(...(isGap ? [`@@ ${number}`] : []), line);
    isGap = !isNear(at);
    if (!line.startsWith("-")) number++;
  }
  const rest = shown.length - MAX_LINES;
  return rest > 0 ? [...shown.slice(0, MAX_LINES), `@@ ${rest} more lines`] : shown;
}

/** Returns all lines, each with what happened to it; removed ones come before those that replace them. */
function comparedLines(before: string, after: string): readonly string[] {
  const lines: string[] = [];
  let added: string[] = [];
  // The first list is the one whose own entries have a positive operation.
  for (const [operation, text] of diff(linesOf(after), linesOf(before))) {
    if (operation === 1) added.push(`+${text}`);
    else if (operation === -1) lines.push(`-${text}`);
    else {
      lines.push(...added, ` ${text}`);
      added = [];
    }
  }
  return [...lines, ...added];
}

function linesOf(text: string): readonly string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}
