import type { MergedValue, Metric } from "./metric.ts";

/** What one thread says of a metric. */
export interface FamilyFigures {
  readonly name: string;
  readonly kind: Metric["kind"];
  readonly merged: MergedValue;
  /** In the Prometheus text format 0.0.4. */
  readonly text: string;
}

/** The figures of several threads as those of one process, in the Prometheus text format 0.0.4, by name. */
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
    case "least":
      return Math.min(before, value);
    case "most":
      return Math.max(before, value);
  }
}
