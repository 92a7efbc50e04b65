import type { FamilyFigures } from "../../runtime/metrics/merged-exposition.ts";
import type { Metric } from "../../runtime/metrics/metric.ts";

/** A value of a metric with its labels. */
export interface LiveSample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Returns the values of a counter or gauge from figures in the text format of Prometheus. */
export function liveSamples(
  figures: readonly FamilyFigures[],
  { name, labels }: Pick<Metric, "name" | "labels">,
): readonly LiveSample[] {
  const { text = "" } = figures.find((each) => each.name === name) ?? {};
  return text.split("\n").flatMap((line) => {
    if (line === "" || line.startsWith("#")) return [];
    const end = line.lastIndexOf(" ");
    const found = Array.from(line.slice(0, end).matchAll(LABEL), ([, label = "", value = ""]) => [
      label,
      unescaped(value),
    ]);
    if (found.length !== labels.length) return [];
    return [{ labels: Object.fromEntries(found), value: Number(line.slice(end + 1)) }];
  });
}

const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

function unescaped(value: string): string {
  return value.replace(/\\(.)/g, (_, character) => (character === "n" ? "\n" : character));
}
