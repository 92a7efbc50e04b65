import { isDeepStrictEqual } from "node:util";
import { checkAllBackends } from "../../../config/all-backends.ts";
import { acts, backendTraffic } from "../../../config/sections.ts";
import {
  childOf,
  Diagnostics,
  keyPlace,
  type Place,
  placeKey,
} from "../../../diagnostics/diagnostic.ts";
import {
  policies as kinds,
  type PolicyConfig,
  type PolicyConfigs,
  type PolicyKind,
  policyConfig,
  policyOf,
  policyOfKind,
} from "../../../policies/index.ts";
import { withOAuthMetadata } from "../../../policies/mcp-authentication/from-jwt-auth.ts";
import type { WeightedBackend } from "../backends/backend-configs.ts";
import type { RulePath } from "./effective.ts";
import { type RulePolicies, routePolicies } from "./policies.ts";
import type { PolicyContext } from "./policy-context.ts";

/**
 * Returns the policies of a rule, for whichever backend serves a request: the configured ones, and those of the
 * protocols that its backends declare.
 */
export function rulePolicies(
  traffic: RulePath,
  backends: readonly WeightedBackend[],
  context: PolicyContext,
): Pick<RulePolicies, "policies" | "hasResponse"> {
  const { policies: configured, hasResponse } = configuredPolicies(traffic, backends, context);
  const areMcpServers = backends.every(({ backend }) =>
    acts(["mcp"], backendTraffic(backend.config)),
  );
  const policies = withOAuthMetadata(configured, backends.length > 0 && areMcpServers);
  const declared = kinds.flatMap(({ kind }) => declaredPolicy(kind, backends) ?? []);
  if (declared.length === 0 && policies === configured) return { policies, hasResponse };
  const all = [...policies, ...declared];
  return { policies: kinds.flatMap(({ kind }) => policyOfKind(all, kind) ?? []), hasResponse };
}

/** Returns the policy that the protocol of a backend implies; `undefined` if none declares it. */
function declaredPolicy<Kind extends PolicyKind>(
  kind: Kind,
  backends: readonly WeightedBackend[],
): PolicyConfig<Kind> | undefined {
  const { ofProtocol } = policyOf(kind);
  if (ofProtocol === undefined) return undefined;
  const found = backends.find(({ backend }) => speaks(backend, ofProtocol.name));
  return found && policyConfig(kind, ofProtocol.config, found.backend.config.origin);
}

/** Whether a GatewayBackend or a Service's port declares a protocol. */
function speaks({ manifest, port }: WeightedBackend["backend"], protocol: string): boolean {
  if (manifest?.kind !== "GatewayBackend")
    return port?.appProtocol?.endsWith(`/${protocol}`) === true;
  return manifest.spec !== undefined && Reflect.get(manifest.spec, protocol) !== undefined;
}

function configuredPolicies(
  traffic: RulePath,
  backends: readonly WeightedBackend[],
  context: PolicyContext,
): Pick<RulePolicies, "policies" | "hasResponse"> {
  const hasTargets = backends.some(({ backend }) => backend.parts.size > 0);
  if (backends.length < 2 || !hasTargets) return routePolicies(traffic, context);
  const each = backends.map((weighted) => ({
    ...weighted,
    ...policiesFor({ ...traffic, backend: weighted.backend }, context),
  }));
  // Policies of a single backend are not meant for the others.
  const ofAll = each.flatMap(({ policies, ofBackend }) =>
    policies.filter((config) => !ofBackend.has(config)),
  );
  const once = new Map(ofAll.map((config) => [placeKey(config.origin), config]));
  const placed = each.map(({ backend, weight, origin }) => ({
    config: { ...backend.config, weight },
    at: shareOf(origin),
  }));
  checkAllBackends([...once.values()], placed, context.diagnostics);
  return {
    policies: kinds.flatMap(({ kind }) => joined(kind, each, context) ?? []),
    hasResponse: each.some(({ hasResponse }) => hasResponse),
  };
}

/** Reads policies for one backend; reports a mistake that several backends share only once. */
function policiesFor(traffic: RulePath, context: PolicyContext): RulePolicies {
  const found = new Diagnostics();
  const policies = routePolicies(traffic, { ...context, diagnostics: found });
  for (const each of found.list) {
    const isKnown = context.diagnostics.list.some(
      ({ code, at, params }) =>
        code === each.code &&
        placeKey(at) === placeKey(each.at) &&
        isDeepStrictEqual(params, each.params),
    );
    if (!isKnown) context.diagnostics.add(each);
  }
  return policies;
}

/** A backend of a rule, with the effective policies of its requests. */
type Ruled = WeightedBackend & RulePolicies;

/** Joins the policies of a rule's backends into one; returns `undefined` if no backend that gets requests has it. */
function joined<Kind extends PolicyKind>(
  kind: Kind,
  backends: readonly Ruled[],
  { diagnostics }: PolicyContext,
): PolicyConfig<Kind> | undefined {
  const { traits, kubernetes } = policyOf(kind);
  const { actsOn } = traits;
  const isOfRequests = actsOn.includes("requests");
  const carrying = backends.filter(
    ({ backend, weight }) =>
      isOfRequests || (weight > 0 && acts(actsOn, backendTraffic(backend.config))),
  );
  const configs = carrying.map(({ policies }) => policyOfKind(policies, kind));
  const first = configs.find((config) => config !== undefined);
  if (first === undefined || isOfRequests || carrying.length < 2) return first;
  const { ofTarget, perTarget } = kubernetes ?? {};
  const field = String(first.origin.path.at(-1));
  const differs = (at: Place, name?: string) => {
    const related = [{ at: keyPlace(first.origin), label: "what another one has" }];
    diagnostics.report("backends-differ", shareOf(at), { field, name }, related);
  };
  const targets = new Map<string, PolicyConfigs[Kind] | undefined>();
  carrying.forEach(({ backend, origin }, index) => {
    const own = configs[index];
    if (ofTarget === undefined) {
      if (own === undefined || placeKey(own.origin) !== placeKey(first.origin)) differs(origin);
      return;
    }
    for (const name of backend.parts.keys()) {
      const config = own && ofTarget(own.config, name);
      // The first backend's configuration is used; the other reference is the reported mistake.
      if (!targets.has(name)) targets.set(name, config);
      else if (!isDeepStrictEqual(targets.get(name), config)) differs(origin, name);
    }
  });
  const isOfAll = configs.every((each) => isDeepStrictEqual(each?.config, first.config));
  if (perTarget === undefined || isOfAll) return first;
  const configured = [...targets].flatMap(([name, config]) =>
    config === undefined ? [] : [[name, config] as const],
  );
  if (configured.length === 0) return undefined;
  return policyConfig(kind, perTarget(undefined, new Map(configured)), first.origin);
}

/**
 * Returns the location of a reference's weight. The mistake is that the backend shares the rule, not its target,
 * so the whole rule is closed.
 */
function shareOf(reference: Place): Place {
  return childOf(reference, "weight");
}
