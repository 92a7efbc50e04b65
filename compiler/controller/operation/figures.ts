/** A figure of the controller as Prometheus reads it. */
export interface Figure {
  readonly name: string;
  readonly kind: "counter" | "gauge";
  readonly help: string;
  readonly value: number;
}

/** The text of figures (Prometheus exposition format 0.0.4). */
export function exposition(figures: readonly Figure[]): string {
  const lines = figures.map(
    ({ name, kind, help, value }) =>
      `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n${name} ${value}\n`,
  );
  return lines.join("");
}
