import { placeText } from "../../explain/route.ts";
import type { TestRun } from "../run-tests.ts";

/** Renders coverage: the totals, then each uncovered part with its location. */
export function coverageText({ coverage, files }: TestRun): string {
  const uncovered = coverage
    .filter(({ isCovered }) => !isCovered)
    .map(({ kind, name, origin }) => {
      const what = kind === "route" ? name : `${kind} ${name}`;
      return `  not covered  ${what}\n               at ${placeText(origin, files)}\n`;
    });
  return `covered: ${testTotals(coverage)}\n${uncovered.join("")}`;
}

/** Formats how many parts of each kind are covered: `1 of 2 routes, 3 of 3 rules`. */
export function testTotals(coverage: TestRun["coverage"]): string {
  const totals = KINDS.flatMap(([kind, one, many]) => {
    const all = coverage.filter((part) => part.kind === kind);
    const covered = all.filter(({ isCovered }) => isCovered).length;
    return all.length === 0 ? [] : `${covered} of ${all.length} ${all.length === 1 ? one : many}`;
  });
  return totals.length === 0 ? "nothing to cover" : totals.join(", ");
}

const KINDS = [
  ["route", "route", "routes"],
  ["policy", "policy", "policies"],
  ["rule", "rule", "rules"],
] as const;
