import type { CounterMetric, GaugeMetric, HistogramMetric } from "../metric.ts";

const BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300] as const;

/** `gwc_mcp_messages_total` */
export const mcpMessages = {
  kind: "counter",
  name: "gwc_mcp_messages_total",
  help: "Messages of MCP clients; outcome: allowed, denied by rules, withheld by a tool_lock, unknown, or failed at its target.",
  labels: ["route", "method", "target", "item", "outcome"],
} as const satisfies CounterMetric;

/** `gwc_mcp_message_duration_seconds` */
export const mcpMessageDuration = {
  kind: "histogram",
  name: "gwc_mcp_message_duration_seconds",
  help: "Seconds that messages to MCP targets took.",
  labels: ["route", "target"],
  bounds: BOUNDS,
} as const satisfies HistogramMetric;

/** `gwc_mcp_eras_total` */
export const mcpEras = {
  kind: "counter",
  name: "gwc_mcp_eras_total",
  help: "Messages of MCP clients that reached a target, by the eras of the client and the target: sessions, stateless, or both with several targets.",
  labels: ["route", "client", "target"],
} as const satisfies CounterMetric;

/** `gwc_mcp_target_failures_total` */
export const mcpTargetFailures = {
  kind: "counter",
  name: "gwc_mcp_target_failures_total",
  help: "Requests that a target of an MCP endpoint did not answer; kind: status, connect, timeout, closed, session or protocol.",
  labels: ["route", "target", "kind"],
} as const satisfies CounterMetric;

/** `gwc_mcp_omitted_items_total` */
export const mcpOmittedItems = {
  kind: "counter",
  name: "gwc_mcp_omitted_items_total",
  help: "Entries that a target listed and that merged lists omit because clients refuse lists with such entries.",
  labels: ["route", "target", "list"],
} as const satisfies CounterMetric;

/** `gwc_mcp_waiting_calls` */
export const mcpWaitingCalls = {
  kind: "gauge",
  name: "gwc_mcp_waiting_calls",
  help: "Calls to targets of the other era that wait for input of their clients, by the era of the clients.",
  labels: ["era"],
} as const satisfies GaugeMetric;

/** `gwc_mcp_sessions_active` */
export const mcpSessions = {
  kind: "gauge",
  name: "gwc_mcp_sessions_active",
  help: "MCP sessions with open processes or event streams.",
  labels: [],
} as const satisfies GaugeMetric;

/** `gwc_mcp_stdio_processes` */
export const mcpProcesses = {
  kind: "gauge",
  name: "gwc_mcp_stdio_processes",
  help: "Running processes of stdio targets.",
  labels: ["target"],
} as const satisfies GaugeMetric;

/** `gwc_mcp_stdio_starts_total` */
export const mcpProcessStarts = {
  kind: "counter",
  name: "gwc_mcp_stdio_starts_total",
  help: "Started processes of stdio targets.",
  labels: ["target"],
} as const satisfies CounterMetric;

/** `gwc_mcp_stdio_failures_total` */
export const mcpProcessFailures = {
  kind: "counter",
  name: "gwc_mcp_stdio_failures_total",
  help: "Processes of stdio targets that ended by themselves or could not be started.",
  labels: ["target"],
} as const satisfies CounterMetric;
