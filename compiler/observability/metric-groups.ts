import type { Metric } from "../../runtime/metrics/metric.ts";
import * as acme from "../../runtime/metrics/table/acme.ts";
import * as callouts from "../../runtime/metrics/table/callouts.ts";
import * as certificates from "../../runtime/metrics/table/certificates.ts";
import * as connections from "../../runtime/metrics/table/connections.ts";
import * as custom from "../../runtime/metrics/table/custom.ts";
import * as exports from "../../runtime/metrics/table/exports.ts";
import * as guards from "../../runtime/metrics/table/guards.ts";
import * as identity from "../../runtime/metrics/table/identity.ts";
import * as limits from "../../runtime/metrics/table/limits.ts";
import * as mcp from "../../runtime/metrics/table/mcp.ts";
import * as mesh from "../../runtime/metrics/table/mesh.ts";
import * as models from "../../runtime/metrics/table/models.ts";
import * as process from "../../runtime/metrics/table/process.ts";
import * as requests from "../../runtime/metrics/table/requests.ts";
import * as store from "../../runtime/metrics/table/store.ts";
import * as upstreams from "../../runtime/metrics/table/upstreams.ts";
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
  | "custom"
  | "limits"
  | "store"
  | "exports"
  | "certificates"
  | "acme"
  | "identity"
  | "mesh"
  | "process";

/** Metrics that a gateway has together, or has none of. */
export interface MetricGroup {
  readonly name: MetricGroupName;
  readonly title: string;
  readonly metrics: readonly Metric[];
}

/** Every metric of every gateway, in the order of the documents and of the dashboard. */
export const metricGroups: readonly MetricGroup[] = [
  group("requests", "Requests", requests),
  group("connections", "TCP connections", connections),
  group("upstreams", "Upstreams", upstreams),
  group("mcp", "MCP", mcp),
  group("models", "Models", models),
  group("guards", "Guards", guards),
  group("callouts", "Servers of policies", callouts),
  group("custom", "Custom policies", custom),
  group("limits", "Rate limits", limits),
  group("store", "Store", store),
  group("exports", "Collectors", exports),
  group("certificates", "TLS", certificates),
  group("acme", "Ordered certificates", acme),
  group("identity", "Identity", identity),
  group("mesh", "Mesh", mesh),
  group("process", "Process", process),
];

/** By name: how a module orders its exports depends on who loads it. */
function group(
  name: MetricGroupName,
  title: string,
  table: Readonly<Record<string, Metric>>,
): MetricGroup {
  const metrics = Object.values(table).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return { name, title, metrics };
}

/** The groups that a bundle has: those whose part of the table is in it. Every port could have certificates. */
export function groupsIn(
  { binds, tcp }: Program,
  modules: readonly { readonly name: string }[],
): readonly MetricGroup[] {
  const names = new Set(modules.map(({ name }) => name));
  const hasTls =
    binds.some(({ tls }) => tls !== undefined) || tcp.some(({ mode }) => mode.kind === "terminate");
  return metricGroups.filter(
    ({ name }) => names.has(`runtime/metrics/table/${name}`) && (name !== "certificates" || hasTls),
  );
}
