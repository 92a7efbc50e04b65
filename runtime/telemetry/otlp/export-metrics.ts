import type { Sample } from "../../metrics/family.ts";
import type { Metrics } from "../../metrics/metrics.ts";
import { otlpDropped, otlpExported } from "../../metrics/table/exports.ts";

/** The counters of exported and dropped items of one signal. */
export interface ExportFigures {
  readonly exported: Sample;
  readonly dropped: Sample;
}

/** Returns the counters of an OpenTelemetry signal. */
export function exportFigures(metrics: Metrics, signal: "traces" | "logs"): ExportFigures {
  return {
    exported: metrics.counter(otlpExported, signal),
    dropped: metrics.counter(otlpDropped, signal),
  };
}
