import { kinds } from "../../1-parse/kubernetes/kinds.ts";
import type { WeightedBackend } from "../../2-lower/kubernetes/backends/backend-configs.ts";
import type { KubernetesModel } from "../../2-lower/kubernetes/gateway/gateways.ts";
import { resourceName } from "../../2-lower/kubernetes/inventory/inventory.ts";
import { carriedBy, whyIdle } from "../../2-lower/kubernetes/policies/applicable.ts";
import {
  effectivePolicy,
  partPolicy,
  type RulePath,
} from "../../2-lower/kubernetes/policies/effective.ts";
import { isConnection } from "../../2-lower/kubernetes/policies/fields.ts";
import {
  type EffectiveField,
  type FieldValue,
  isBackendLevel,
} from "../../2-lower/kubernetes/policies/merge.ts";
import { type SharedTraffic, trafficOf } from "../../2-lower/kubernetes/routes/traffic.ts";
import { guardLines } from "../../backends/ai/guard-text.ts";
import { type BackendKind, backendOf } from "../../backends/index.ts";
import type { Checked } from "../../compile.ts";
import { type Origin, placeKey } from "../../diagnostics/diagnostic.ts";
import { locate, locationText, type SourceFile, valueAt } from "../../diagnostics/source.ts";
import { accessOf } from "../../ir/access.ts";
import type { BackendNode } from "../../ir/backends.ts";
import { joinedPolicies } from "../../ir/joined-policies.ts";
import type { PolicyUse } from "../../ir/policies.ts";
import type { ListenerNode, Program, RouteNode } from "../../ir/program.ts";
import { routeGuards } from "../../ir/route-guards.ts";
import { allRoutes, servedRoutes, servedTcpRoutes } from "../../ir/routes.ts";
import type { TcpListenerNode, TcpRouteNode } from "../../ir/tcp.ts";
import type { Manifest, ManifestOf } from "../../manifests/manifests.ts";
import type { Traffic } from "../../model/traffic.ts";
import { type PolicyKind, policies, policyOf } from "../../policies/index.ts";
import { type Schema, schemaAt } from "../../schema/schema.ts";

/** Effective configuration for the traffic of a route's rule on one listener. */
export interface RouteExplanation {
  /** `HTTPRoute "default/tools"`, or the name of a standalone file's route. */
  readonly route: string;
  /** The rule's name, or its index. */
  readonly rule: string;
  readonly listener: string;
  readonly backend: string;
  /** Prompt guards for requests to models and their responses. */
  readonly guards: readonly string[];
  /** Its limits, with where each is counted; absent if it has none. */
  readonly limits?: readonly string[];
  readonly fields: readonly ExplainedField[];
}

/** A policy field with its effective values and those that they override. */
export interface ExplainedField {
  /** `traffic.cors`; for one target of a backend: `backend.mcp.authorization (target NAME)`. */
  readonly field: string;
  readonly values: readonly ExplainedValue[];
  /** Reason why it has no effect on this traffic; absent if it has an effect. */
  readonly idle?: string;
  readonly overridden: readonly ExplainedValue[];
}

/** A value and its source. */
export interface ExplainedValue {
  readonly value: unknown;
  /** `GatewayPolicy "default/p"`, or the file. */
  readonly source: string;
  /** Level at which it is set: `route`. */
  readonly level: string;
  /** FILE:LINE:COLUMN */
  readonly at: string;
}

/**
 * Explains a route by NAMESPACE/NAME, by a name that is unambiguous, or by the name in a standalone file. `rule` limits the
 * result to the rule of that name or index. Empty if there is no such route.
 */
export function explainRoute(
  checked: Checked,
  name: string,
  rule: string | undefined,
): readonly RouteExplanation[] {
  const { kubernetes, files } = checked;
  if (kubernetes === undefined) {
    return checked.programs
      .flatMap(fileRoutes)
      .filter(({ route }) => route.name === name || route.id === name)
      .flatMap((each) => each.listeners.map((listener) => explainNode(each, listener, files)));
  }
  return routesNamed(name, kubernetes)
    .flatMap((route) => trafficOf(kubernetes, route))
    .filter((each) => rule === undefined || rule === ruleName(each) || rule === String(each.index))
    .map((each) => explainTraffic(each, checked, kubernetes));
}

/** Finds routes by NAMESPACE/NAME, or by a name in `default` or in only one namespace; there may be one of each kind. */
function routesNamed(
  name: string,
  { inventory }: KubernetesModel,
): readonly ManifestOf<Explained>[] {
  const [namespace = "", short = ""] = name.includes("/") ? name.split("/") : ["default", name];
  const found = EXPLAINED.flatMap((kind) => inventory.find(kind, namespace, short) ?? []);
  if (found.length > 0 || name.includes("/")) return found;
  const named = EXPLAINED.flatMap((kind): readonly ManifestOf<Explained>[] =>
    inventory.all(kind),
  ).filter((each) => each.name === name);
  return new Set(named.map((each) => each.namespace)).size === 1 ? named : [];
}

/** Lists the names that `explainRoute` accepts. */
export function routeNames(checked: Checked): readonly string[] {
  const { kubernetes } = checked;
  if (kubernetes === undefined)
    return checked.programs.flatMap(allRoutes).map(({ route }) => route.name);
  return EXPLAINED.flatMap((kind): readonly Manifest[] => kubernetes.inventory.all(kind)).map(
    ({ namespace, name }) => `${namespace}/${name}`,
  );
}

/** Supported kinds of routes. */
const EXPLAINED = ["HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute"] as const;

type Explained = (typeof EXPLAINED)[number];

/** Formats a location as FILE:LINE:COLUMN. */
export function placeText(origin: Origin, files: readonly SourceFile[]): string {
  return locationText(locate({ ...origin, part: "key" }, files));
}

function explainTraffic(
  traffic: SharedTraffic,
  { programs, files }: Checked,
  kubernetes: KubernetesModel,
): RouteExplanation {
  const { listener, route, backends } = traffic;
  const nodes = programs
    .flatMap(servedRoutes)
    .filter(({ route: node }) => isOfRule(node.origin, traffic))
    .map(({ route: node }) => node);
  return {
    route: resourceName(route),
    rule: ruleName(traffic),
    listener: `${listener.spec.name} of ${resourceName(listener.owner)}`,
    backend: backends.length === 0 ? "none" : backends.map(backendText).join(", "),
    guards: guardsOf(nodes),
    ...limitsOf(nodes.flatMap((node) => node.policies)),
    fields: trafficFields(traffic, kubernetes).map((field) => {
      const idle = whyIdle(field, carriedByAll(traffic));
      return { ...explainField(field, files), ...(idle === undefined ? {} : { idle }) };
    }),
  };
}

/** Returns the protocols behind all backends; `undefined` if a backend is invalid, which is reported elsewhere. */
function carriedByAll(traffic: SharedTraffic): readonly Traffic[] | undefined {
  const backends = traffic.backends.map(({ backend }) => backend);
  const carried = (backends.length === 0 ? [undefined] : backends).map((backend) =>
    carriedBy({ ...traffic, backend }),
  );
  return carried.includes(undefined) ? undefined : carried.flatMap((each) => each ?? []);
}

function isOfRule({ resource, path }: Origin, { route, index }: RulePath): boolean {
  const name = `${route.kind} ${route.namespace}/${route.name}`;
  return resource?.name === name && path.at(-1) === index;
}

function ruleName({ rule, index }: RulePath): string {
  return rule.name ?? String(index);
}

/** Formats `Service "default/web" port 80 (weight 3)` or `GatewayBackend "default/tools" (targets one, two)`. */
function backendText(
  { backend: { manifest, port, parts }, weight }: WeightedBackend,
  _: number,
  { length }: readonly WeightedBackend[],
): string {
  const title = manifest === undefined ? "none" : resourceName(manifest);
  const targets = parts.size === 0 ? [] : [`targets ${[...parts.keys()].join(", ")}`];
  const notes = [...targets, ...(length === 1 ? [] : [`weight ${weight}`])].join(", ");
  return `${title}${port === undefined ? "" : ` port ${port.port}`}${notes === "" ? "" : ` (${notes})`}`;
}

/** Lists the fields for all traffic in request order, then those of individual backends and targets. */
function trafficFields(
  traffic: SharedTraffic,
  { context: { policyIndex } }: KubernetesModel,
): readonly EffectiveField[] {
  const { backends } = traffic;
  const own = backends.length < 2 ? [] : backends;
  const ofAll = effectivePolicy(traffic, policyIndex).filter(
    (field) => own.length === 0 || !isOfBackend(field),
  );
  const ofBackends = own.flatMap((each) =>
    effectivePolicy({ ...traffic, backend: each.backend }, policyIndex)
      .filter(isOfBackend)
      .map((field) => named(field, `to ${backendText({ ...each, weight: 1 }, 0, [each])}`)),
  );
  const ofTargets = backends.flatMap(({ backend }) =>
    [...backend.parts].flatMap(([target, part]) =>
      partPolicy({ ...traffic, backend }, part, policyIndex).map((field) =>
        named(field, `target ${target}`),
      ),
    ),
  );
  const sorted = ofAll.toSorted((a, b) => position(a) - position(b));
  return [...sorted, ...ofBackends, ...ofTargets];
}

/** Whether a field may differ between the backends of a rule. */
function isOfBackend({ field, values }: EffectiveField): boolean {
  return isConnection(field) || values.some(({ level }) => isBackendLevel(level));
}

function named(field: EffectiveField, what: string): EffectiveField {
  return { ...field, field: `${field.field} (${what})` };
}

/** Ranks a field by when it acts: before routing, then in policy order, then on the way to the backend. */
function position({ field }: EffectiveField): number {
  const preRouting = field.includes(".PreRouting.");
  const index = FIELDS.indexOf(preRouting ? field.replace(".PreRouting.", ".") : field);
  return (preRouting ? 0 : FIELDS.length + 1) + (index < 0 ? FIELDS.length : index);
}

const FIELDS: readonly string[] = policies.flatMap(({ kubernetes }) => kubernetes?.field ?? []);

function explainField(
  { field, values, overridden, conflicts }: EffectiveField,
  files: readonly SourceFile[],
): ExplainedField {
  const explained = (each: FieldValue): ExplainedValue => ({
    value: withoutSecrets(each),
    source: resourceName(each.source),
    level: each.level,
    at: placeText(each.origin, files),
  });
  return {
    field,
    values: values.map(explained),
    overridden: [...conflicts.map(({ lost }) => lost), ...overridden].map(explained),
  };
}

/** Redacts credentials that are written literally in a value. */
function withoutSecrets({ source, origin, value }: FieldValue): unknown {
  const row = kinds.find(({ kind }) => kind === source.kind);
  const depth = source.origin.resource?.depth ?? 0;
  return shown(value, row && schemaAt(row.schema(), origin.path.slice(depth)));
}

function shown(value: unknown, schema: Schema | undefined): unknown {
  if (schema?.isHidden === true) return "(not shown)";
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, shown(each, schema?.properties?.[name])]),
  );
}

/** A route of a standalone file. */
interface FileRoute {
  readonly route: RouteNode | TcpRouteNode;
  readonly listeners: readonly (ListenerNode | TcpListenerNode)[];
  /** Destination of its traffic. */
  readonly backend: string;
  readonly guards: readonly string[];
}

function fileRoutes(program: Program): readonly FileRoute[] {
  return [
    ...servedRoutes(program).map((served) => ({
      ...served,
      backend: served.route.backends.map(sharedText).join(", "),
      guards: guardsOf([served.route]),
    })),
    ...servedTcpRoutes(program).map((served) => ({
      ...served,
      backend: served.route.backends.map(({ kind }) => kind).join(", "),
      guards: [],
    })),
  ];
}

/** Explains a route of a standalone file, where each policy is set once: on the gateway, the listener or the route. */
function explainNode(
  { route, backend, guards }: FileRoute,
  listener: ListenerNode | TcpListenerNode,
  files: readonly SourceFile[],
): RouteExplanation {
  const fieldsAt = (level: string, prefix: string, uses: readonly PolicyUse[]) =>
    joinedPolicies(uses).map((use) => ({
      field: `${prefix}${use.kind}`,
      values: placesOf(use).map((origin) => ({
        value: valueAt(origin, files),
        source: origin.file,
        // Entries of the file's top-level `policies` name their targets.
        level: origin.path[0] === "policies" ? "attached" : level,
        at: placeText(origin, files),
      })),
      overridden: [],
    }));
  const preRouting = "preRouting" in listener ? listener.preRouting : undefined;
  const { admission } = listener;
  return {
    route: route.name,
    rule: "0",
    listener: listener.name,
    backend,
    guards,
    ...limitsOf([...(preRouting?.policies ?? []), ...route.policies]),
    fields: [
      ...fieldsAt("gateway", "connections: ", admission),
      ...fieldsAt("listener", "PreRouting.", preRouting?.policies ?? []),
      ...fieldsAt("route", "", route.policies),
    ],
  };
}

/** Lists the locations of a policy; merged rules have several. */
function placesOf(use: PolicyUse): readonly Origin[] {
  const ofRules = accessOf(use)
    .flatMap((check) => (check.kind === "rules" ? check.rules : []))
    .map(({ origin }) => ({
      ...origin,
      path: origin.path.slice(0, origin.path.lastIndexOf("rules")),
    }))
    .filter(({ path }) => path.at(-1) === use.kind);
  const others = new Map(ofRules.map((each) => [placeKey(each), each]));
  others.delete(placeKey(use.origin));
  return [...others.values(), use.origin];
}

/** Describes the limits of policies, without duplicates. */
function limitsOf(uses: readonly PolicyUse[]): Pick<RouteExplanation, "limits"> {
  const limits = [...new Set(uses.flatMap(ownLimits))];
  return limits.length === 0 ? {} : { limits };
}

function ownLimits<Kind extends PolicyKind>({
  kind,
  settings,
}: PolicyUse<Kind>): readonly string[] {
  return policyOf(kind).traits.limits?.(settings) ?? [];
}

/** Describes the guards of texts of routes, without duplicates. */
function guardsOf(routes: readonly RouteNode[]): readonly string[] {
  return [...new Set(routes.flatMap(routeGuards).flatMap(guardLines))];
}

/** Formats a backend, with its weight if there are several. */
function sharedText(node: BackendNode, _: number, { length }: readonly BackendNode[]): string {
  const weight = "weight" in node && length > 1 ? ` (weight ${node.weight})` : "";
  return `${nodeText(node)}${weight}`;
}

/** Formats `ai (group 1: fast (gpt-5), ...)` with the named servers of a backend. */
function nodeText<Kind extends BackendKind>(node: BackendNode<Kind>): string {
  const labels = backendOf(node.kind)
    .describe(node)
    .flatMap(({ label, rest }) =>
      label === undefined ? [] : rest === undefined ? label : `${label}, ${rest}`,
    );
  return labels.length === 0 ? node.kind : `${node.kind} (${labels.join("; ")})`;
}
