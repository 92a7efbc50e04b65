import { whyIdle } from "../2-resolve/kubernetes/applicable.ts";
import { effectivePolicy, partPolicy, type Traffic } from "../2-resolve/kubernetes/effective.ts";
import type { Cluster } from "../2-resolve/kubernetes/gateways.ts";
import { titleOf } from "../2-resolve/kubernetes/inventory.ts";
import type { EffectiveField, FieldValue } from "../2-resolve/kubernetes/merge.ts";
import { trafficOf } from "../2-resolve/kubernetes/traffic.ts";
import type { Checked } from "../compile.ts";
import type { Origin } from "../diagnostics.ts";
import type { ListenerNode, PolicyUse, RouteNode, TcpListenerNode, TcpRouteNode } from "../ir.ts";
import type { Manifest } from "../manifests.ts";
import { allRoutes } from "../program-routes.ts";
import { locate, type SourceFile, valueAt } from "../source.ts";

/** What holds for the traffic of a route's rule on one listener. */
export interface RouteExplanation {
  /** `HTTPRoute "default/tools"`, or the name of a standalone file's route. */
  readonly route: string;
  /** The rule's name, or its index. */
  readonly rule: string;
  readonly listener: string;
  readonly backend: string;
  readonly fields: readonly ExplainedField[];
}

/** A field with the values that count, and those that they override. */
export interface ExplainedField {
  /** `traffic.cors`; of one target of a backend: `backend.mcp.authorization (target NAME)`. */
  readonly field: string;
  readonly values: readonly ExplainedValue[];
  /** Why it does nothing for this traffic; absent when it acts. */
  readonly idle?: string;
  readonly overridden: readonly ExplainedValue[];
}

/** A value, and where it comes from. */
export interface ExplainedValue {
  readonly value: unknown;
  /** `GatewayPolicy "default/p"`, or the file. */
  readonly source: string;
  /** On which level it stands: `route`. */
  readonly level: string;
  /** FILE:LINE:COLUMN */
  readonly at: string;
}

/**
 * What holds for a route: NAMESPACE/NAME of a route (`default` when it has no namespace), or the name of a
 * standalone file's route; of all its rules, or the one of that name or index. Empty when there is no such route.
 */
export function explainRoute(
  checked: Checked,
  name: string,
  rule: string | undefined,
): readonly RouteExplanation[] {
  const { cluster, files } = checked;
  if (cluster === undefined) {
    return checked.programs
      .flatMap(allRoutes)
      .flatMap(({ route, listeners }) => listeners.map((listener) => ({ route, listener })))
      .filter(({ route }) => route.name === name || route.id === name)
      .map(({ route, listener }) => explainNode(route, listener, files));
  }
  const [namespace, short] = name.includes("/") ? name.split("/") : ["default", name];
  return EXPLAINED.flatMap(
    (kind) => cluster.inventory.find(kind, namespace ?? "", short ?? "") ?? [],
  )
    .flatMap((route) => trafficOf(cluster, route))
    .filter((each) => rule === undefined || rule === ruleName(each) || rule === String(each.index))
    .map((each) => explainTraffic(each, cluster, files));
}

/** The names that `explainRoute` takes. */
export function routeNames(checked: Checked): readonly string[] {
  const { cluster } = checked;
  if (cluster === undefined)
    return checked.programs.flatMap(allRoutes).map(({ route }) => route.name);
  return EXPLAINED.flatMap((kind): readonly Manifest[] => cluster.inventory.all(kind)).map(
    ({ namespace, name }) => `${namespace}/${name}`,
  );
}

/** The kinds of routes that are built. */
const EXPLAINED = ["HTTPRoute", "TLSRoute", "TCPRoute"] as const;

/** Where a thing stands, as FILE:LINE:COLUMN. */
export function placeText(origin: Origin, files: readonly SourceFile[]): string {
  const { path, line, column } = locate({ ...origin, part: "key" }, files);
  return `${path}:${line}:${column}`;
}

function explainTraffic(
  traffic: Traffic,
  cluster: Cluster,
  files: readonly SourceFile[],
): RouteExplanation {
  const { listener, route, backend } = traffic;
  const { policyIndex } = cluster.context;
  const parts = [...(backend?.parts ?? [])].flatMap(([target, part]) =>
    partPolicy(traffic, part, policyIndex).map((field) => ({
      ...field,
      field: `${field.field} (target ${target})`,
    })),
  );
  return {
    route: titleOf(route),
    rule: ruleName(traffic),
    listener: `${listener.spec.name} of ${titleOf(listener.owner)}`,
    backend: backend?.manifest === undefined ? "none" : titleOf(backend.manifest),
    fields: [...effectivePolicy(traffic, policyIndex), ...parts].map((field) => {
      const idle = whyIdle(field, traffic);
      return { ...explainField(field, files), ...(idle === undefined ? {} : { idle }) };
    }),
  };
}

function ruleName({ rule, index }: Traffic): string {
  return rule.name ?? String(index);
}

function explainField(
  { field, values, overridden, conflicts }: EffectiveField,
  files: readonly SourceFile[],
): ExplainedField {
  const explained = (each: FieldValue): ExplainedValue => ({
    value: each.value,
    source: titleOf(each.source),
    level: each.level,
    at: placeText(each.origin, files),
  });
  return {
    field,
    values: values.map(explained),
    overridden: [...conflicts.map(({ lost }) => lost), ...overridden].map(explained),
  };
}

/** A standalone file says each policy once: on the listener, for before routing, or on the route. */
function explainNode(
  route: RouteNode | TcpRouteNode,
  listener: ListenerNode | TcpListenerNode,
  files: readonly SourceFile[],
): RouteExplanation {
  const said = (level: string, prefix: string, uses: readonly PolicyUse[]) =>
    uses.map(({ kind, origin }) => ({
      field: `${prefix}${kind}`,
      values: [
        {
          value: valueAt(origin, files),
          source: origin.file,
          level,
          at: placeText(origin, files),
        },
      ],
      overridden: [],
    }));
  const early = "preRouting" in listener ? listener.preRouting : undefined;
  return {
    route: route.name,
    rule: "0",
    listener: listener.name,
    backend: route.backends.map(({ kind }) => kind).join(", "),
    fields: [
      ...said("listener", "PreRouting.", early?.policies ?? []),
      ...said("route", "", route.policies),
    ],
  };
}
