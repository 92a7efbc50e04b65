import type { CounterMetric, HistogramMetric } from "../metric.ts";

const BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2] as const;

/** `gwc_callouts_total` */
export const calloutsTotal = {
  kind: "counter",
  name: "gwc_callouts_total",
  help: "Calls to servers of policies; kind: extAuthz, networkExtAuthz, remoteRateLimit, extProc, promptGuard; result: ok, denied, failed, or cancelled (the client disconnected).",
  labels: ["kind", "target", "result"],
} as const satisfies CounterMetric;

/** `gwc_callout_duration_seconds` */
export const calloutDuration = {
  kind: "histogram",
  name: "gwc_callout_duration_seconds",
  help: "Seconds that calls to servers of policies took.",
  labels: ["kind", "target"],
  bounds: BOUNDS,
} as const satisfies HistogramMetric;
