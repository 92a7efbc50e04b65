import type { PathMatch } from "../../model/matches.ts";

/** Whether a path may meet two matches; assumed to be true for patterns. */
export function mayBothPaths(a: PathMatch, b: PathMatch): boolean {
  if (a.kind === "regex" || b.kind === "regex") return true;
  return isWithin(a, b) || isWithin(b, a);
}

function isWithin({ value }: PathMatch, outer: PathMatch): boolean {
  if (outer.kind !== "prefix" || outer.value === "/")
    return value === outer.value || outer.kind === "prefix";
  const { length } = outer.value;
  return value.startsWith(outer.value) && (value.length === length || value[length] === "/");
}
