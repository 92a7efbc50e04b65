import { isDeepStrictEqual } from "node:util";
import type { BackendSpec } from "../manifests/manifests.ts";
import type { Text } from "../model/texts.ts";
import { validated } from "../schema/schema.ts";
import type { PromptGuardNode } from "./ai/guards.ts";
import { ai } from "./ai.ts";
import { aws } from "./aws.ts";
import type { Backend, BackendUse, GuardedServer } from "./backend.ts";
import { dynamic } from "./dynamic.ts";
import { host } from "./host.ts";
import { inferencePool } from "./inference-pool.ts";
import { mcp } from "./mcp.ts";

/** Every kind of backend; messages and schemas name them in this order. */
const units = { mcp, host, dynamic, inferencePool, ai, aws };

/** The name of a kind of backend, as it stands in the configuration. */
export type BackendKind = keyof typeof units;

/** What stands in a file, by kind, as the kind's schema lets it through. */
export type BackendValues = {
  readonly [Kind in BackendKind]: Parameters<(typeof units)[Kind]["lower"]>[0];
};

/** What a user configures, by kind, in its canonical form. */
export type BackendConfigs = {
  readonly [Kind in BackendKind]: Parameters<(typeof units)[Kind]["resolve"]>[0]["config"];
};

/** What stands in a GatewayBackend, by kind. */
type KubernetesValues = {
  readonly [Kind in BackendKind]: Parameters<
    NonNullable<(typeof units)[Kind]["kubernetes"]>["lower"]
  >[0];
};

/** What each kind's `resolve` makes for its template. */
export type BackendNode<Kind extends BackendKind = BackendKind> = {
  [Each in Kind]: NonNullable<ReturnType<(typeof units)[Each]["resolve"]>> & {
    readonly kind: Each;
  };
}[Kind];

/** The same behind a route of connections; never for a kind that takes none. */
export type TcpBackendNode<Kind extends BackendKind = BackendKind> = {
  [Each in Kind]: NonNullable<ReturnType<NonNullable<(typeof units)[Each]["resolveTcp"]>>> & {
    readonly kind: Each;
  };
}[Kind];

/** A backend as configured, in its canonical form. */
export type BackendConfig<Kind extends BackendKind = BackendKind> = {
  [Each in Kind]: BackendUse<BackendConfigs[Each]> & { readonly kind: Each };
}[Kind];

/** The kinds as code sees them that asks any of them. */
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

/** The unit of a kind. */
export function backendOf<Kind extends BackendKind>(kind: Kind): Backends[Kind] {
  return byKind[kind];
}

/** The server that a backend is, for requests of the gateway's own; undefined when it is none. */
export function serverAddress<Kind extends BackendKind>({
  kind,
  config,
}: BackendConfig<Kind>): Text | undefined {
  return backendOf(kind).serverAddress?.(config);
}

/** Whether a backend is one server, and no name that may stand for several. */
export function isOneServer<Kind extends BackendKind>({
  kind,
  config,
}: BackendConfig<Kind>): boolean {
  return backendOf(kind).isOneServer?.(config) === true;
}

/** What guards the texts of a backend's requests and responses, each once. */
export function promptGuards(node: BackendNode): readonly PromptGuardNode[] {
  const found: PromptGuardNode[] = [];
  for (const { guard } of guardedServers(node)) {
    if (guard === undefined || found.some((each) => isDeepStrictEqual(each, guard))) continue;
    found.push(guard);
  }
  return found;
}

/** The servers of a backend with what guards their texts. */
export function guardedServers<Kind extends BackendKind>(
  node: BackendNode<Kind>,
): readonly GuardedServer[] {
  return backendOf<Kind>(node.kind).promptGuards?.of(node) ?? [];
}

/** A backend whose texts nothing guards. */
export function unguarded<Kind extends BackendKind>(node: BackendNode<Kind>): BackendNode<Kind> {
  return backendOf<Kind>(node.kind).promptGuards?.without(node) ?? node;
}

/** The value of a kind in a GatewayBackend; undefined when that is of another kind. */
export function kubernetesValue<Kind extends BackendKind>(
  kind: Kind,
  spec: BackendSpec,
): KubernetesValues[Kind] | undefined {
  const { kubernetes: form } = backendOf(kind);
  const value: unknown = form && Reflect.get(spec, form.field);
  return form === undefined || value === undefined ? undefined : validated(form.schema, value);
}

/** The parts of a GatewayBackend of this kind that policies may target by name. */
export function sectionNames<Kind extends BackendKind>(
  kind: Kind,
  spec: BackendSpec,
): readonly string[] {
  const value = kubernetesValue(kind, spec);
  return value === undefined ? [] : (backendOf(kind).kubernetes?.sectionNames?.(value) ?? []);
}
