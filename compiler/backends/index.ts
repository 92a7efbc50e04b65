import { isDeepStrictEqual } from "node:util";
import type { Diagnostics } from "../diagnostics/diagnostic.ts";
import type { BackendSpec } from "../manifests/manifests.ts";
import type { Text } from "../model/texts.ts";
import type { ToolSet } from "../model/tool-sets.ts";
import { validated } from "../schema/schema.ts";
import type { PromptGuardNode, TextHooks } from "./ai/guards.ts";
import { ai } from "./ai.ts";
import { aws } from "./aws.ts";
import type { Backend, BackendUse, GuardedServer, PartialRules, SharedCache } from "./backend.ts";
import { dynamic } from "./dynamic.ts";
import { host } from "./host.ts";
import { inferencePool } from "./inference-pool.ts";
import { mcp } from "./mcp.ts";

/** Every kind of backend, in the order in which messages and schemas list them. */
const units = { mcp, host, dynamic, inferencePool, ai, aws };

/** The name of a kind of backend in the configuration. */
export type BackendKind = keyof typeof units;

/** Value of each kind in a file, as validated by its schema. */
export type BackendValues = {
  readonly [Kind in BackendKind]: Parameters<(typeof units)[Kind]["lower"]>[0];
};

/** Canonical configuration of each kind. */
export type BackendConfigs = {
  readonly [Kind in BackendKind]: Parameters<(typeof units)[Kind]["resolve"]>[0]["config"];
};

/** Value of each kind in a GatewayBackend. */
type KubernetesValues = {
  readonly [Kind in BackendKind]: Parameters<
    NonNullable<(typeof units)[Kind]["kubernetes"]>["lower"]
  >[0];
};

/** Result of each kind's `resolve`, which its template receives. */
export type BackendNode<Kind extends BackendKind = BackendKind> = {
  [Each in Kind]: NonNullable<ReturnType<(typeof units)[Each]["resolve"]>> & {
    readonly kind: Each;
  };
}[Kind];

/** The same behind a TCP route; `never` for kinds that do not support it. */
export type TcpBackendNode<Kind extends BackendKind = BackendKind> = {
  [Each in Kind]: NonNullable<ReturnType<NonNullable<(typeof units)[Each]["resolveTcp"]>>> & {
    readonly kind: Each;
  };
}[Kind];

/** A backend with its canonical configuration. */
export type BackendConfig<Kind extends BackendKind = BackendKind> = {
  [Each in Kind]: BackendUse<BackendConfigs[Each]> & { readonly kind: Each };
}[Kind];

/** The kinds, with a common type that code over all kinds can use. */
type Backends = {
  readonly [Kind in BackendKind]: Backend<
    Kind,
    BackendValues[Kind],
    BackendConfigs[Kind],
    BackendNode<Kind>,
    TcpBackendNode<Kind>,
    KubernetesValues[Kind]
  >;
};

const byKind: Backends = units;

/** Every kind of backend. */
export const backends: readonly Backends[BackendKind][] = Object.values(byKind);

/** Returns the unit of a kind. */
export function backendOf<Kind extends BackendKind>(kind: Kind): Backends[Kind] {
  return byKind[kind];
}

/**
 * Returns the server of a backend, for requests that the gateway sends itself; `undefined` if it is not a single
 * server.
 */
export function serverAddress<Kind extends BackendKind>({
  kind,
  config,
}: BackendConfig<Kind>): Text | undefined {
  return backendOf(kind).serverAddress?.(config);
}

/** Whether a backend is a single server and not a name of possibly several. */
export function isOneServer<Kind extends BackendKind>({
  kind,
  config,
}: BackendConfig<Kind>): boolean {
  return backendOf(kind).isOneServer?.(config) === true;
}

/** Returns the distinct prompt guards of a backend. */
export function promptGuards(node: BackendNode): readonly PromptGuardNode[] {
  const found: PromptGuardNode[] = [];
  for (const { guard } of guardedServers(node)) {
    if (guard === undefined || found.some((each) => isDeepStrictEqual(each, guard))) continue;
    found.push(guard);
  }
  return found;
}

/** Returns the servers of a backend with their prompt guards. */
export function guardedServers<Kind extends BackendKind>(
  node: BackendNode<Kind>,
): readonly GuardedServer[] {
  return backendOf<Kind>(node.kind).promptGuards?.of(node) ?? [];
}

/** Returns the rules of a backend about part of its requests. */
export function partialRules<Kind extends BackendKind>(
  node: BackendNode<Kind>,
): readonly PartialRules[] {
  return backendOf<Kind>(node.kind).partialRules?.(node) ?? [];
}

/** Returns a backend with hooks of a route's policies behind its guards; `undefined` if a mistake was reported. */
export function withTextHooks<Kind extends BackendKind>(
  node: BackendNode<Kind>,
  hooks: TextHooks,
  diagnostics: Diagnostics,
): BackendNode<Kind> | undefined {
  const form = backendOf<Kind>(node.kind).promptGuards;
  return form === undefined ? node : form.withHooks(node, hooks, diagnostics);
}

/** Returns the caches of a backend whose responses several callers may get. */
export function sharedCaches<Kind extends BackendKind>(
  node: BackendNode<Kind>,
): readonly SharedCache[] {
  return backendOf<Kind>(node.kind).sharedCaches?.(node) ?? [];
}

/** Whether replicas share the responses of a backend in the store. */
export function sharesResponses<Kind extends BackendKind>(node: BackendNode<Kind>): boolean {
  return backendOf<Kind>(node.kind).responsePools?.areUsed(node) === true;
}

/** Whether calls to a backend, or sessions, wait for their clients, who may return to another replica. */
export function hasWaitingCalls<Kind extends BackendKind>(node: BackendNode<Kind>): boolean {
  return backendOf<Kind>(node.kind).hasWaitingCalls === true;
}

/** Returns a backend with a name for its pools of shared responses. */
export function withResponsePool<Kind extends BackendKind>(
  node: BackendNode<Kind>,
  pool: string,
): BackendNode<Kind> {
  return backendOf<Kind>(node.kind).responsePools?.named(node, pool) ?? node;
}

/** Returns a backend without its prompt guards. */
export function unguarded<Kind extends BackendKind>(node: BackendNode<Kind>): BackendNode<Kind> {
  return backendOf<Kind>(node.kind).promptGuards?.without(node) ?? node;
}

/** Returns the value of a kind in a GatewayBackend, with its field; `undefined` if that is of another kind. */
export function kubernetesValue<Kind extends BackendKind>(
  kind: Kind,
  spec: BackendSpec,
): { readonly field: string; readonly value: KubernetesValues[Kind] } | undefined {
  const { kubernetes: form } = backendOf(kind);
  if (form === undefined) return undefined;
  const fields = [form.field, ...Object.keys(form.protocolFields ?? {})];
  const field = fields.find((each) => Reflect.get(spec, each) !== undefined);
  if (field === undefined) return undefined;
  return { field, value: validated(form.schema, Reflect.get(spec, field)) };
}

/** Returns the names of a GatewayBackend's sections of this kind, which policies can target. */
export function sectionNames<Kind extends BackendKind>(
  kind: Kind,
  spec: BackendSpec,
): readonly string[] {
  const found = kubernetesValue(kind, spec);
  return found === undefined ? [] : (backendOf(kind).kubernetes?.sectionNames?.(found.value) ?? []);
}

/** Returns the tools of a backend that clients see in another way than servers list them. */
export function toolSets<Kind extends BackendKind>(node: BackendNode<Kind>): readonly ToolSet[] {
  return backendOf<Kind>(node.kind).toolSets?.of(node) ?? [];
}

/** Returns a backend whose clients see the tools that servers list. */
export function withoutToolSets<Kind extends BackendKind>(
  node: BackendNode<Kind>,
): BackendNode<Kind> {
  return backendOf<Kind>(node.kind).toolSets?.without(node) ?? node;
}
