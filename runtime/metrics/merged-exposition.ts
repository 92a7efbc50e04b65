import type { MergedValue, Metric } from "./metric.ts";

/** The samples of one metric on one thread. */
export interface FamilyFigures {
  readonly name: string;
  readonly kind: Metric["kind"];
  readonly merged: MergedValue;
  /** Returns the family in the Prometheus text format 0.0.4. */
  readonly text: string;
}

/** Merges the samples of several threads into those of one process, in the Prometheus text format 0.0.4, sorted by name. */
export function mergedExposition(threads: readonly (readonly FamilyFigures[])[]): string {
  const families = Map.groupBy(threads.flat(), ({ name }) => name);
  return Array.from(families)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, figures]) => mergedFamily(figures))
    .join("");
}

function mergedFamily(figures: readonly FamilyFigures[]): string {
  const [first] = figures;
  if (first === undefined || figures.length === 1) return first?.text ?? "";
  let head = "";
  const samples = new Map<string, number>();
  for (const { text } of first.merged === "same" ? [first] : figures) {
    const isFirst = head === "";
    for (const line of text.split("\n")) {
      if (line.startsWith("#")) head += isFirst ? `${line}\n` : "";
      else if (line !== "") add(samples, line, first.merged);
    }
  }
  return head + Array.from(samples, ([series, value]) => `${series} ${value}\n`).join("");
}

function add(samples: Map<string, number>, line: string, merged: MergedValue): void {
  const end = line.lastIndexOf(" ");
  const series = line.slice(0, end);
  const value = Number(line.slice(end + 1));
  const before = samples.get(series);
  samples.set(series, before === undefined ? value : joined(before, value, merged));
}

function joined(before: number, value: number, merged: MergedValue): number {
  switch (merged) {
    case "sum":
      return before + value;
    case "same":
      return before;
    case "min":
      return Math.min(before, value);
    case "max":
      return Math.max(before, value);
  }
}
