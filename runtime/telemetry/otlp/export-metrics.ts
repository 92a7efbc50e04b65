import type { MetricsPart } from "../../process/metrics-part.ts";
import { head } from "../metrics/exposition-text.ts";

/** What became of the items of one signal. */
export interface ExportFigures {
  exported: number;
  dropped: number;
}

/** A signal of OpenTelemetry. */
export type Signal = "traces" | "logs";

/** Counts what goes to collectors. */
export class ExportMetrics implements MetricsPart {
  readonly #signals = new Map<Signal, ExportFigures>();

  /** The counters of a process: they outlive a reload of the configuration. */
  static of(parts: Set<MetricsPart>): ExportMetrics {
    for (const part of parts) if (part instanceof ExportMetrics) return part;
    const added = new ExportMetrics();
    parts.add(added);
    return added;
  }

  signal(name: Signal): ExportFigures {
    let figures = this.#signals.get(name);
    if (figures === undefined) {
      figures = { exported: 0, dropped: 0 };
      this.#signals.set(name, figures);
    }
    return figures;
  }

  exposition(): string {
    const lines = (name: string, help: string, value: keyof ExportFigures): string =>
      head(name, "counter", help) +
      Array.from(
        this.#signals,
        ([signal, figures]) => `${name}{signal="${signal}"} ${figures[value]}\n`,
      ).join("");
    return (
      lines("gwc_otlp_exported_total", "Spans and log records that a collector took.", "exported") +
      lines("gwc_otlp_dropped_total", "Spans and log records that no collector got.", "dropped")
    );
  }
}
