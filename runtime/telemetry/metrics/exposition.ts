import type { BufferBudget } from "../../process/buffer-budget.ts";
import { head, label } from "./exposition-text.ts";
import { latencyBounds, type Metrics, type RouteMetrics } from "./metrics.ts";

/** The content type of the Prometheus text format. */
export const expositionType = "text/plain; version=0.0.4; charset=utf-8";

/** What a process knows besides its counters. */
export interface ProcessFigures {
  /** The gateway's name. */
  readonly name: string;
  readonly buffers: BufferBudget;
  readonly droppedLogLines: number;
}

/** Everything counted, in the Prometheus text format 0.0.4. */
export function exposition(
  metrics: Metrics,
  { name, buffers, droppedLogLines }: ProcessFigures,
): string {
  let text = head("gwc_build_info", "gauge", "The gateway that runs.");
  text += `gwc_build_info{gateway="${label(name)}"} 1\n`;
  text += head("gwc_requests_total", "counter", "Requests that have ended.");
  for (const route of metrics.routes()) text += requests(route);
  text += head(
    "gwc_request_duration_seconds",
    "histogram",
    "Seconds from a request's head to the end of its response.",
  );
  for (const route of metrics.routes()) text += latencies(route);
  for (const part of metrics.parts) text += part.exposition();
  text += head("gwc_malformed_requests_total", "counter", "Requests that are no HTTP.");
  text += `gwc_malformed_requests_total ${metrics.malformed}\n`;
  text += head(
    "gwc_connections_refused_total",
    "counter",
    "Connections that were closed at once, because their port had too many.",
  );
  text += `gwc_connections_refused_total ${metrics.refused}\n`;
  text += head("gwc_buffered_bytes", "gauge", "Bytes held of messages that are read whole.");
  text += `gwc_buffered_bytes ${buffers.held}\n`;
  text += head("gwc_buffered_bytes_limit", "gauge", "The most of them: more is a 503.");
  text += `gwc_buffered_bytes_limit ${buffers.limit}\n`;
  text += head(
    "gwc_log_lines_dropped_total",
    "counter",
    "Log lines dropped because nobody read them.",
  );
  text += `gwc_log_lines_dropped_total ${droppedLogLines}\n`;
  return text + processFigures();
}

function requests(route: RouteMetrics): string {
  const place = labels(route);
  let text = "";
  for (const { method, status, reason, value } of route.counters()) {
    text += `gwc_requests_total{${place},method="${method}",status="${status}",reason="${reason}"} ${value}\n`;
  }
  return text;
}

function latencies(route: RouteMetrics): string {
  const place = labels(route);
  let text = "";
  let total = 0;
  for (let bucket = 0; bucket <= latencyBounds.length; bucket++) {
    total += route.buckets[bucket] ?? 0;
    const bound = latencyBounds[bucket] ?? "+Inf";
    text += `gwc_request_duration_seconds_bucket{${place},le="${bound}"} ${total}\n`;
  }
  text += `gwc_request_duration_seconds_sum{${place}} ${route.sum}\n`;
  return `${text}gwc_request_duration_seconds_count{${place}} ${total}\n`;
}

function processFigures(): string {
  const { user, system } = process.cpuUsage();
  const started = Date.now() / 1000 - process.uptime();
  return (
    head("process_cpu_seconds_total", "counter", "CPU time of the process, in seconds.") +
    `process_cpu_seconds_total ${(user + system) / 1e6}\n` +
    head("process_resident_memory_bytes", "gauge", "Resident memory of the process.") +
    `process_resident_memory_bytes ${process.memoryUsage.rss()}\n` +
    head("process_start_time_seconds", "gauge", "Start of the process since the epoch.") +
    `process_start_time_seconds ${started.toFixed(3)}\n`
  );
}

function labels(route: RouteMetrics): string {
  return `listener="${label(route.listener)}",route="${label(route.route)}"`;
}
