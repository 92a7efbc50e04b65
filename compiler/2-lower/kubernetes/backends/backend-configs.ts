import type { BackendSection } from "../../../backends/backend.ts";
import {
  type BackendConfig,
  type BackendKind,
  backendOf,
  isOneServer,
} from "../../../backends/index.ts";
import type { InferencePoolConfig } from "../../../backends/inference-pool/inference-pool-config.ts";
import type { RouteBackend } from "../../../config/resources.ts";
import type { Place } from "../../../diagnostics/diagnostic.ts";
import { guarded } from "../../../diagnostics/guarded.ts";
import { type BackendPolicies, mergeBackendPolicies } from "../../../model/backend-policies.ts";
import type { Traffic } from "../../../model/traffic.ts";
import { type PolicyConfig, policyOf } from "../../../policies/index.ts";
import { serviceName } from "../inventory/services.ts";
import { actsThere, carriedBy, meetField } from "../policies/applicable.ts";
import { connectionFields, type RulePath } from "../policies/effective.ts";
import type { EffectiveField } from "../policies/merge.ts";
import { policiesOfBackend } from "../policies/policies.ts";
import type { PolicyContext } from "../policies/policy-context.ts";
import { recordEffect } from "../policies/policy-effects.ts";
import { isStream } from "../routes/attach.ts";
import { backendPoliciesOf } from "./backend-policies.ts";
import { type KubernetesBackend, poolsOfParts, unresolved } from "./backends.ts";
import { serverOf } from "./servers.ts";

/** A backend with its share of a rule's traffic. */
export interface WeightedBackend {
  readonly backend: KubernetesBackend;
  readonly weight: number;
  /** Location of the rule's reference to it. */
  readonly origin: Place;
  /** Header changes of that reference; absent if none are possible. */
  readonly headers?: Pick<BackendPolicies, "requestHeaders" | "responseHeaders">;
}

/**
 * Returns the backends of a rule in the vocabulary of standalone files: with their connection policies and
 * weights. `policies` are the rule's other policies.
 */
export function backendConfigs(
  traffic: RulePath,
  backends: readonly WeightedBackend[],
  policies: readonly PolicyConfig[],
  context: PolicyContext,
): readonly RouteBackend[] {
  const servers = backends.reduce((sum, { backend }) => sum + serverCount(backend), 0);
  const isChosen = policies.some(({ kind }) => policyOf(kind).traits.choosesServer === true);
  const isAlone =
    servers < 2 && !isChosen && backends.every(({ backend }) => isOneServer(backend.config));
  // Splits the backend's share evenly over its servers, in whole numbers.
  const unit = backends.reduce((all, { backend }) => multiple(all, serverCount(backend)), 1);
  return backends.flatMap(({ backend, weight, headers = {} }): readonly RouteBackend[] => {
    const at = backend.config.origin;
    const reached =
      guarded(at, context.diagnostics, () =>
        connected({ ...traffic, backend }, backend, isAlone, context),
      ) ?? unresolved(at);
    const hasHeaders = Object.keys(headers).length > 0;
    const config = hasHeaders
      ? { ...reached, policies: { ...reached.policies, ...headers } }
      : reached;
    const share = (weight * unit) / serverCount(backend);
    const { addresses } = backend;
    return addresses.length < 2
      ? [{ ...config, weight: share }]
      : addresses.map((address) => ({
          ...config,
          kind: "host",
          config: { address },
          weight: share,
        }));
  });
}

function connected(
  traffic: RulePath,
  backend: KubernetesBackend,
  isAlone: boolean,
  context: PolicyContext,
): RouteBackend {
  const { config, manifest, port, addresses } = backend;
  const hasName = manifest?.kind === "Service" && addresses.length > 0;
  const whole = carriedBy(traffic);
  // A single server has none to share with.
  const carried = isAlone ? whole?.filter((each) => each !== "shares") : whole;
  const { gateway } = traffic.listener;
  const fields = actingFields(traffic, undefined, carried, context);
  const destination = {
    port: isStream(traffic.route) ? undefined : port,
    serverName: hasName ? serviceName(manifest) : undefined,
    isGrpc: traffic.route.kind === "GRPCRoute",
    origin: config.origin,
  };
  const configured = backendPoliciesOf(fields, destination, gateway, context);
  const { policies: ofModels } = config;
  const policies = ofModels ? mergeBackendPolicies(ofModels, configured) : configured;
  const ownPolicies = policiesOfBackend(fields, gateway, context);
  const targetPolicies = new Map(
    [...backend.parts].flatMap(([name, part]) => {
      const destination = { port: part.service?.port, serverName: undefined };
      const at = { ...destination, origin: config.origin };
      const own = backendPoliciesOf(
        actingFields(traffic, part, carried, context),
        at,
        gateway,
        context,
      );
      return own === undefined ? [] : [[name, own] as const];
    }),
  );
  const pools = poolsOfParts(
    backend.parts,
    (reference, from, origin) => serverOf({ reference, from, gateway, origin }, context),
    context,
  );
  const reached = pools.size === 0 ? config : withPools(config, pools);
  return {
    ...(targetPolicies.size === 0 ? reached : withPolicies(reached, targetPolicies)),
    ...(policies && { policies }),
    ...(ownPolicies.length > 0 && { ownPolicies }),
    ...(isInCluster(manifest) && { keepsHost: true }),
  };
}

/** Adds the connection policies of a backend's parts. */
function withPolicies<Kind extends BackendKind>(
  backend: BackendConfig<Kind>,
  ofParts: ReadonlyMap<string, BackendPolicies>,
): BackendConfig<Kind> {
  const { kubernetes: form } = backendOf(backend.kind);
  const config = form?.withPolicies?.(backend.config, ofParts) ?? backend.config;
  return { ...backend, config };
}

/** Adds the servers of a backend's parts that lead to pools. */
function withPools<Kind extends BackendKind>(
  backend: BackendConfig<Kind>,
  pools: ReadonlyMap<string, InferencePoolConfig>,
): BackendConfig<Kind> {
  const { kubernetes: form } = backendOf(backend.kind);
  const config = form?.withPools?.(backend.config, pools) ?? backend.config;
  return { ...backend, config };
}

/**
 * Whether the backend is in the cluster: pods serve the host names that clients use, but an ExternalName Service
 * only stands for another host.
 */
function isInCluster(manifest: KubernetesBackend["manifest"]): boolean {
  if (manifest?.kind === "InferencePool") return true;
  return manifest?.kind === "Service" && manifest.spec?.type !== "ExternalName";
}

/** Returns the fields for a backend, or a part of it, that have an effect there. */
function actingFields(
  traffic: RulePath,
  part: BackendSection | undefined,
  carried: readonly Traffic[] | undefined,
  context: PolicyContext,
): readonly EffectiveField[] {
  const all = connectionFields(traffic, part, context.policyIndex);
  for (const field of all) meetField(field, carried, context.sections);
  const fields = all.filter((field) => actsThere(field, carried));
  for (const field of fields) recordEffect(field, traffic.listener.gateway, context);
  return fields;
}

function serverCount({ addresses }: KubernetesBackend): number {
  return Math.max(1, addresses.length);
}

/** Returns the least common multiple. */
function multiple(a: number, b: number): number {
  return (a * b) / divisor(a, b);
}

function divisor(a: number, b: number): number {
  return b === 0 ? a : divisor(b, a % b);
}
