import { placeText } from "../../explain/route.ts";
import type { TestRun } from "../run-tests.ts";

/** What no test touches, for people: the totals, then each part with its place. */
export function coverageText({ coverage, files }: TestRun): string {
  const totals = KINDS.flatMap(([kind, one, many]) => {
    const all = coverage.filter((part) => part.kind === kind);
    const touched = all.filter(({ isTouched }) => isTouched).length;
    return all.length === 0 ? [] : `${touched} of ${all.length} ${all.length === 1 ? one : many}`;
  });
  const untouched = coverage
    .filter(({ isTouched }) => !isTouched)
    .map(({ kind, name, origin }) => {
      const what = kind === "route" ? name : `${kind} ${name}`;
      return `  no test touches  ${what}\n                   at ${placeText(origin, files)}\n`;
    });
  return `touched: ${totals.length === 0 ? "nothing to touch" : totals.join(", ")}\n${untouched.join("")}`;
}

const KINDS = [
  ["route", "route", "routes"],
  ["policy", "policy", "policies"],
  ["rule", "rule", "rules"],
] as const;
