import type { ItemTargets } from "../backends/backend.ts";
import { type BackendConfig, type BackendKind, backendOf, isOneServer } from "../backends/index.ts";
import type { BackendProtocol } from "../backends/parts/backend-protocol.ts";
import type { BackendResolveContext } from "../backends/parts/backend-resolve-context.ts";
import type { ConnectionContext } from "../backends/parts/connection.ts";
import type { RouteBackend, RouteResource } from "../config/resources.ts";
import { backendTraffic } from "../config/sections.ts";
import { type Diagnostics, isSamePlace, keyPlace } from "../diagnostics/diagnostic.ts";
import { guarded } from "../diagnostics/guarded.ts";
import type { BackendNode, TcpBackendNode } from "../ir/backends.ts";
import type { PolicyUse } from "../ir/policies.ts";
import type { RouteBackendNode } from "../ir/program.ts";
import { type PolicyConfig, policyOf } from "../policies/index.ts";
import type { ResolveContext } from "../policies/policy.ts";

/** Resolves the backends of a route; omits those with mistakes (reported). */
export function resolveBackends(
  backends: readonly RouteBackend[],
  context: BackendResolveContext,
  resolveOwn: (
    policies: readonly PolicyConfig[],
    share: Pick<ResolveContext, "isOfShare">,
  ) => readonly PolicyUse[],
): readonly RouteBackendNode[] {
  const nodes = backends.flatMap((backend): readonly RouteBackendNode[] => {
    const { ownPolicies = [] } = backend;
    const node = resolveBackend(backend, context);
    const isOfShare = backends.some((other) => !haveSamePolicies(backend, other));
    const own = resolveOwn(ownPolicies, isOfShare ? { isOfShare } : {});
    if (node === undefined) return [];
    return [own.length === 0 ? node : { ...node, ownPolicies: own }];
  });
  checkTokens(nodes, context.diagnostics);
  return nodes;
}

/** Whether two backends have the same own policies, as all servers behind one name do, and all backends of a targeted route. */
function haveSamePolicies(one: RouteBackend, other: RouteBackend): boolean {
  const [own = [], others = []] = [one.ownPolicies, other.ownPolicies];
  const isSame = ({ origin }: PolicyConfig, at: number): boolean => {
    const twin = others[at];
    return twin !== undefined && isSamePlace(origin, twin.origin);
  };
  return own.length === others.length && own.every(isSame);
}

function resolveBackend<Kind extends BackendKind>(
  backend: BackendConfig<Kind>,
  context: BackendResolveContext,
): BackendNode<Kind> | undefined {
  return guarded(backend.origin, context.diagnostics, () =>
    backendOf(backend.kind).resolve(backend, context),
  );
}

/** Reports backends that do not agree on whether the client's token is restored for them. */
function checkTokens(all: readonly BackendNode[], diagnostics: Diagnostics): void {
  const nodes = all.filter((node) => !("isRefused" in node));
  const [first] = nodes;
  if (first === undefined) return;
  const other = nodes.find((node) => passesToken(node) !== passesToken(first));
  if (other !== undefined) diagnostics.report("mixed-passthrough", other.origin, {});
}

function passesToken<Kind extends BackendKind>(node: BackendNode<Kind>): boolean {
  return backendOf<Kind>(node.kind).passesToken?.(node) === true;
}

/** Returns the MCP servers whose items the route's rules refer to; `undefined` if it has no items. */
export function itemTargetsOf(backends: readonly BackendConfig[]): ItemTargets | undefined {
  const found = backends.flatMap((backend) => ownItemTargets(backend) ?? []);
  if (found.length === 0) return undefined;
  return {
    names: [...new Set(found.flatMap(({ names }) => names))],
    arePrefixes: found.every(({ arePrefixes }) => arePrefixes),
  };
}

function ownItemTargets<Kind extends BackendKind>({
  kind,
  config,
}: BackendConfig<Kind>): ItemTargets | undefined {
  return backendOf(kind).itemTargets?.(config);
}

/** Whether requests of a route use LLM tokens that are counted. */
export function spendsTokens(backends: readonly BackendConfig[]): boolean {
  return backends.some(spendsOwnTokens);
}

function spendsOwnTokens<Kind extends BackendKind>(backend: BackendConfig<Kind>): boolean {
  return backendOf<Kind>(backend.kind).spendsTokens?.(backend) ?? false;
}

/** Returns the model names that clients of a route can use; `undefined` if any. */
export function modelNamesOf(backends: readonly BackendConfig[]): readonly string[] | undefined {
  const lists = backends.map(ownModelNames);
  return lists.every((names) => names !== undefined) ? lists.flat() : undefined;
}

function ownModelNames<Kind extends BackendKind>({
  kind,
  config,
}: BackendConfig<Kind>): readonly string[] | undefined {
  return backendOf(kind).modelNames?.(config);
}

/** Resolves a backend of a TCP route; returns `undefined` if a mistake was reported. */
export function resolveTcpBackend<Kind extends BackendKind>(
  backend: BackendConfig<Kind>,
  context: ConnectionContext,
): TcpBackendNode<Kind> | undefined {
  const { kind, origin } = backend;
  const { resolveTcp } = backendOf(kind);
  if (resolveTcp !== undefined)
    return guarded(origin, context.diagnostics, () => resolveTcp(backend, context));
  const params = { field: `an ${kind} backend`, actsOn: "MCP messages", found: "connections" };
  context.diagnostics.report("misplaced-field", origin, params);
  return undefined;
}

/**
 * Returns the protocol of a route's backends. If they differ, the one other than HTTP, because policies must be
 * valid for all of them.
 */
export function protocolOf(backends: readonly BackendConfig[]): BackendProtocol {
  const protocols = backends.map(({ kind }) => backendOf(kind).protocol);
  return protocols.find((each) => each !== "http") ?? "http";
}

/** Whether requests may call LLMs. */
export function asksModels(backends: readonly BackendConfig[]): boolean {
  return backends.some(({ kind }) => backendOf(kind).protocol === "llm");
}

/** Returns the backend through which clients choose the destination. */
export function openProxyOf(backends: readonly RouteBackend[]): RouteBackend | undefined {
  return backends.find((each) => serverChoice(each) !== undefined);
}

/** Returns what chooses the server of a backend for each request; `undefined` if it is fixed. */
export function serverChoice<Kind extends BackendKind>({
  kind,
  config,
}: BackendConfig<Kind>): "host" | "expression" | undefined {
  return backendOf<Kind>(kind).chosenBy?.(config);
}

/** Reports backends that cannot share a route, and settings for several servers on a route with a single one. */
export function checkShares(
  { backends, isPartial }: Pick<RouteResource, "backends" | "isPartial">,
  policies: readonly PolicyConfig[],
  diagnostics: Diagnostics,
): void {
  const served = backends.filter(({ isRefused }) => isRefused !== true);
  const areAlike = served.every(({ kind }) => kind === served[0]?.kind);
  const only = served.find(({ kind }) => {
    const { takesWeight } = backendOf(kind);
    return takesWeight === undefined || (takesWeight === "withItsKind" && !areAlike);
  });
  const choice = policies.find(({ kind }) => policyOf(kind).traits.choosesServer === true);
  // Other backends may have been omitted because of mistakes.
  const sharing = backends.filter((each) => backendTraffic(each).includes("shares"));
  const isAlone = (backends.length < 2 || sharing.length === 1) && isPartial !== true;
  if (isAlone && choice === undefined) reportHealth(backends, diagnostics);
  if (isAlone && choice !== undefined) reportChoice(choice, backends, diagnostics);
  if (served.length < 2 || only === undefined) return;
  diagnostics.report("several-backends", keyPlace(only.origin), { kind: only.kind });
}

/** Reports a policy that chooses a server if there is only one. */
function reportChoice(
  { kind, origin }: PolicyConfig,
  backends: readonly BackendConfig[],
  diagnostics: Diagnostics,
): void {
  const [backend, ...others] = backends;
  if (backend === undefined || others.length > 0 || !isOneServer(backend)) return;
  const params = { field: `"${kind}"`, actsOn: "backends of several servers", found: "one" };
  diagnostics.report("misplaced-field", keyPlace(origin), params);
}

/** Reports health settings without effect: there is only one server, and its name cannot resolve to several. */
function reportHealth(backends: readonly BackendConfig[], diagnostics: Diagnostics): void {
  for (const backend of backends) {
    const { kind, policies } = backend;
    if (policies?.health === undefined || backendOf(kind).takesWeight === undefined) continue;
    if (!isOneServer(backend) && policies.tunnel === undefined) continue;
    const params = { field: '"health"', actsOn: "backends of several servers", found: "one" };
    diagnostics.report("misplaced-field", keyPlace(policies.health.origin), params);
  }
}
