import { placeText } from "../../explain/route.ts";
import type { TestRun } from "../run-tests.ts";

/** Renders coverage: the totals, then each uncovered part with its location. */
export function coverageText({ coverage, files }: TestRun): string {
  const totals = KINDS.flatMap(([kind, one, many]) => {
    const all = coverage.filter((part) => part.kind === kind);
    const covered = all.filter(({ isCovered }) => isCovered).length;
    return all.length === 0 ? [] : `${covered} of ${all.length} ${all.length === 1 ? one : many}`;
  });
  const uncovered = coverage
    .filter(({ isCovered }) => !isCovered)
    .map(({ kind, name, origin }) => {
      const what = kind === "route" ? name : `${kind} ${name}`;
      return `  not covered  ${what}\n               at ${placeText(origin, files)}\n`;
    });
  return `covered: ${totals.length === 0 ? "nothing to cover" : totals.join(", ")}\n${uncovered.join("")}`;
}

const KINDS = [
  ["route", "route", "routes"],
  ["policy", "policy", "policies"],
  ["rule", "rule", "rules"],
] as const;
