import type { CounterMetric, GaugeMetric } from "../metric.ts";

/** `gwc_build_info` */
export const buildInfo = {
  kind: "gauge",
  name: "gwc_build_info",
  merged: "same",
  help: "The gateway, the version of gwc that compiled it, and the digest of what it compiled.",
  labels: ["gateway", "version", "config_digest"],
} as const satisfies GaugeMetric;

/** `gwc_config_reloads_total` */
export const reloads = {
  kind: "counter",
  name: "gwc_config_reloads_total",
  merged: "same",
  help: "Reloads of a changed configuration; result: ok or failed.",
  labels: ["result"],
} as const satisfies CounterMetric;

/** `gwc_config_last_reload_successful` */
export const lastReloadSuccessful = {
  kind: "gauge",
  name: "gwc_config_last_reload_successful",
  merged: "same",
  help: "1 if the newest configuration is served; 0 if it has mistakes.",
  labels: [],
} as const satisfies GaugeMetric;

/** `gwc_config_last_reload_success_timestamp_seconds` */
export const lastReloadTime = {
  kind: "gauge",
  name: "gwc_config_last_reload_success_timestamp_seconds",
  merged: "same",
  help: "Load time of the served configuration, since the epoch.",
  labels: [],
} as const satisfies GaugeMetric;

/** `gwc_buffered_bytes` */
export const bufferedBytes = {
  kind: "gauge",
  name: "gwc_buffered_bytes",
  merged: "same",
  help: "Bytes of buffered messages.",
  labels: [],
} as const satisfies GaugeMetric;

/** `gwc_buffered_bytes_limit` */
export const bufferedBytesLimit = {
  kind: "gauge",
  name: "gwc_buffered_bytes_limit",
  merged: "same",
  help: "Maximum bytes of buffered messages; more are answered with 503.",
  labels: [],
} as const satisfies GaugeMetric;

/** `gwc_log_lines_dropped_total` */
export const logLinesDropped = {
  kind: "counter",
  name: "gwc_log_lines_dropped_total",
  help: "Log lines dropped because their reader was too slow.",
  labels: [],
} as const satisfies CounterMetric;

/** `gwc_event_loop_active_seconds_total` */
export const eventLoopSeconds = {
  kind: "counter",
  name: "gwc_event_loop_active_seconds_total",
  help: "Seconds that the event loop was busy; a rate near 1 means a full core.",
  labels: ["thread"],
} as const satisfies CounterMetric;

/** `process_cpu_seconds_total` */
export const processCpu = {
  kind: "counter",
  name: "process_cpu_seconds_total",
  merged: "same",
  help: "CPU time of the process, in seconds.",
  labels: [],
} as const satisfies CounterMetric;

/** `process_resident_memory_bytes` */
export const processMemory = {
  kind: "gauge",
  name: "process_resident_memory_bytes",
  merged: "same",
  help: "Resident memory of the process.",
  labels: [],
} as const satisfies GaugeMetric;

/** `process_start_time_seconds` */
export const processStart = {
  kind: "gauge",
  name: "process_start_time_seconds",
  merged: "same",
  help: "Start of the process since the epoch.",
  labels: [],
} as const satisfies GaugeMetric;
