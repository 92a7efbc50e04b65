import type { ModelTest } from "../http/exchange.ts";

/** Compiles patterns for names of models, each with at most one `*`, at its start or end. */
export function allowedModels(patterns: readonly string[]): ModelTest {
  const names = new Set(patterns.filter((pattern) => !pattern.includes("*")));
  const beginnings = patterns.flatMap((each) => (each.endsWith("*") ? each.slice(0, -1) : []));
  const ends = patterns.flatMap((each) =>
    each.startsWith("*") && each !== "*" ? each.slice(1) : [],
  );
  return (model) =>
    names.has(model) ||
    beginnings.some((beginning) => model.startsWith(beginning)) ||
    ends.some((end) => model.endsWith(end));
}
