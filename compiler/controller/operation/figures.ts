/** A figure of the controller as Prometheus reads it. */
export type Figure = NumberFigure | HistogramFigure;

interface NumberFigure {
  readonly name: string;
  readonly kind: "counter" | "gauge";
  readonly help: string;
  readonly value: number;
}

interface HistogramFigure {
  readonly name: string;
  readonly kind: "histogram";
  readonly help: string;
  readonly times: Times;
}

/** Upper bounds of the buckets of times, in seconds. */
const BOUNDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** How long something took, each time. */
export class Times {
  /** Those within each bound, and above the one before. */
  readonly #counts = BOUNDS.map(() => 0);
  count = 0;
  /** Seconds. */
  sum = 0;

  add(seconds: number): void {
    const bucket = BOUNDS.findIndex((bound) => seconds <= bound);
    if (bucket >= 0) this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.count += 1;
    this.sum += seconds;
  }

  /** How many were within each bound. */
  within(): readonly { readonly bound: number; readonly count: number }[] {
    let sum = 0;
    return BOUNDS.map((bound, index) => {
      sum += this.#counts[index] ?? 0;
      return { bound, count: sum };
    });
  }
}

/** The text of figures (Prometheus exposition format 0.0.4). */
export function exposition(figures: readonly Figure[]): string {
  return figures
    .map(
      (each) =>
        `# HELP ${each.name} ${each.help}\n# TYPE ${each.name} ${each.kind}\n${samples(each)}`,
    )
    .join("");
}

function samples(figure: Figure): string {
  const { name } = figure;
  if (figure.kind !== "histogram") return `${name} ${figure.value}\n`;
  const { times } = figure;
  const buckets = times
    .within()
    .map(({ bound, count }) => `${name}_bucket{le="${bound}"} ${count}\n`);
  const all = `${name}_bucket{le="+Inf"} ${times.count}\n`;
  return `${buckets.join("")}${all}${name}_sum ${times.sum}\n${name}_count ${times.count}\n`;
}
