import type { ItemTargets } from "../backends/backend.ts";
import { type BackendConfig, type BackendKind, backendOf, isOneServer } from "../backends/index.ts";
import type { BackendProtocol } from "../backends/parts/backend-protocol.ts";
import type { BackendResolveContext } from "../backends/parts/backend-resolve-context.ts";
import type { ConnectionContext } from "../backends/parts/connection.ts";
import type { RouteBackend, RouteResource } from "../config/resources.ts";
import { backendTraffic } from "../config/sections.ts";
import { type Diagnostics, keyPlace } from "../diagnostics/diagnostic.ts";
import { guarded } from "../diagnostics/guarded.ts";
import type { BackendNode, TcpBackendNode } from "../ir/backends.ts";
import type { PolicyUse } from "../ir/policies.ts";
import type { RouteBackendNode } from "../ir/program.ts";
import { type PolicyConfig, policyOf } from "../policies/index.ts";
import type { ResolveContext } from "../policies/policy.ts";

/** The backends of a route, complete; those with mistakes (reported) are left out. */
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
    const isOfShare = backends.some((other) => !saySame(backend, other));
    const own = resolveOwn(ownPolicies, isOfShare ? { isOfShare } : {});
    if (node === undefined) return [];
    return [own.length === 0 ? node : { ...node, ownPolicies: own }];
  });
  checkTokens(nodes, context.diagnostics);
  return nodes;
}

/** Whether two backends have the same policies about their own messages, as the servers of one name have. */
function saySame(one: RouteBackend, other: RouteBackend): boolean {
  const [own = [], others = []] = [one.ownPolicies, other.ownPolicies];
  return own.length === others.length && own.every((each, at) => each === others[at]);
}

function resolveBackend<Kind extends BackendKind>(
  backend: BackendConfig<Kind>,
  context: BackendResolveContext,
): BackendNode<Kind> | undefined {
  return guarded(backend.origin, context.diagnostics, () =>
    backendOf(backend.kind).resolve(backend, context),
  );
}

/** The client's token is put back for all backends of a route or for none. */
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

/** The servers whose items the rules of a route are about; undefined where it has none. */
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

/** Whether requests of a route use tokens of models that are counted. */
export function spendsTokens(backends: readonly BackendConfig[]): boolean {
  return backends.some(spendsOwnTokens);
}

function spendsOwnTokens<Kind extends BackendKind>(backend: BackendConfig<Kind>): boolean {
  return backendOf<Kind>(backend.kind).spendsTokens?.(backend) ?? false;
}

/** The models that clients of a route can ask for by name; undefined: any. */
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

/** A backend of a route of connections; undefined when a mistake was reported. */
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

/** What the backends of a route speak; where some speak more than HTTP, that: policies have to hold for them all. */
export function protocolOf(backends: readonly BackendConfig[]): BackendProtocol {
  const protocols = backends.map(({ kind }) => backendOf(kind).protocol);
  return protocols.find((each) => each !== "http") ?? "http";
}

/** Whether requests may be to models. */
export function asksModels(backends: readonly BackendConfig[]): boolean {
  return backends.some(({ kind }) => backendOf(kind).protocol === "llm");
}

/** The backend through which clients choose what they reach. */
export function openProxyOf(backends: readonly RouteBackend[]): RouteBackend | undefined {
  return backends.find(({ kind }) => backendOf(kind).isOpenProxy === true);
}

/** Reports a backend that can't share a route with others, and what is about several servers where there is one. */
export function checkShares(
  { backends, isPartial }: Pick<RouteResource, "backends" | "isPartial">,
  policies: readonly PolicyConfig[],
  diagnostics: Diagnostics,
): void {
  const only = backends.find(({ kind }) => backendOf(kind).takesWeight !== true);
  const choice = policies.find(({ kind }) => policyOf(kind).choosesServer === true);
  // Others may have been left out for their mistakes.
  const sharing = backends.filter((each) => backendTraffic(each).includes("shares"));
  const isAlone = (backends.length < 2 || sharing.length === 1) && isPartial !== true;
  if (isAlone && choice === undefined) reportHealth(backends, diagnostics);
  if (isAlone && choice !== undefined) reportChoice(choice, backends, diagnostics);
  if (backends.length < 2 || only === undefined) return;
  diagnostics.report("several-backends", keyPlace(only.origin), { kind: only.kind });
}

/** Where a name stands for one server there is nothing to choose. */
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

/** Where there is nobody else to ask, nobody is left alone; a name may stand for several servers. */
function reportHealth(backends: readonly BackendConfig[], diagnostics: Diagnostics): void {
  for (const backend of backends) {
    const { kind, policies } = backend;
    if (policies?.health === undefined || backendOf(kind).takesWeight !== true) continue;
    if (!isOneServer(backend) && policies.tunnel === undefined) continue;
    const params = { field: '"health"', actsOn: "backends of several servers", found: "one" };
    diagnostics.report("misplaced-field", keyPlace(policies.health.origin), params);
  }
}
