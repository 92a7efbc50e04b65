import type { Metric } from "../../runtime/telemetry/metrics/metric.ts";
import * as callouts from "../../runtime/telemetry/metrics/table/callouts.ts";
import * as certificates from "../../runtime/telemetry/metrics/table/certificates.ts";
import * as connections from "../../runtime/telemetry/metrics/table/connections.ts";
import * as exports from "../../runtime/telemetry/metrics/table/exports.ts";
import * as guards from "../../runtime/telemetry/metrics/table/guards.ts";
import * as limits from "../../runtime/telemetry/metrics/table/limits.ts";
import * as mcp from "../../runtime/telemetry/metrics/table/mcp.ts";
import * as models from "../../runtime/telemetry/metrics/table/models.ts";
import * as process from "../../runtime/telemetry/metrics/table/process.ts";
import * as requests from "../../runtime/telemetry/metrics/table/requests.ts";
import * as upstreams from "../../runtime/telemetry/metrics/table/upstreams.ts";
import type { Program } from "../ir/program.ts";

/** The name of a group: that of its file in the table. */
export type MetricGroupName =
  | "requests"
  | "connections"
  | "upstreams"
  | "mcp"
  | "models"
  | "guards"
  | "callouts"
  | "limits"
  | "exports"
  | "certificates"
  | "process";

/** Metrics that a gateway has together, or has none of. */
export interface MetricGroup {
  readonly name: MetricGroupName;
  readonly title: string;
  readonly metrics: readonly Metric[];
}

/** Every metric of every gateway, in the order of the documents and of the dashboard. */
export const metricGroups: readonly MetricGroup[] = [
  { name: "requests", title: "Requests", metrics: Object.values(requests) },
  { name: "connections", title: "TCP connections", metrics: Object.values(connections) },
  { name: "upstreams", title: "Upstreams", metrics: Object.values(upstreams) },
  { name: "mcp", title: "MCP", metrics: Object.values(mcp) },
  { name: "models", title: "Models", metrics: Object.values(models) },
  { name: "guards", title: "Guards", metrics: Object.values(guards) },
  { name: "callouts", title: "Servers of policies", metrics: Object.values(callouts) },
  { name: "limits", title: "Rate limits", metrics: Object.values(limits) },
  { name: "exports", title: "Collectors", metrics: Object.values(exports) },
  { name: "certificates", title: "Certificates", metrics: Object.values(certificates) },
  { name: "process", title: "Process", metrics: Object.values(process) },
];

/** The groups that a bundle has: those whose part of the table is in it. Every port could have certificates. */
export function groupsIn(
  { binds, tcp }: Program,
  modules: readonly { readonly name: string }[],
): readonly MetricGroup[] {
  const names = new Set(modules.map(({ name }) => name));
  const hasTls =
    binds.some(({ tls }) => tls !== undefined) || tcp.some(({ mode }) => mode.kind === "terminate");
  return metricGroups.filter(
    ({ name }) =>
      names.has(`runtime/telemetry/metrics/table/${name}`) && (name !== "certificates" || hasTls),
  );
}
