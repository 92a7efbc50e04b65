import { isDeepStrictEqual } from "node:util";
import {
  type AttachedPolicyValue,
  DEFAULT_NAME,
} from "../../1-parse/standalone/attached-policy.ts";
import { sectionsOf } from "../../backends/parts/connection-sections.ts";
import { readBackendPolicies } from "../../backends/parts/read-policies.ts";
import { isPartial } from "../../config/broken-parts.ts";
import { isPassedOn } from "../../config/passed-on.ts";
import type { ListenerResource } from "../../config/resources.ts";
import { acts } from "../../config/sections.ts";
import {
  type ConfigPath,
  childOf,
  type Diagnostics,
  keyPlace,
  type Origin,
} from "../../diagnostics/diagnostic.ts";
import { suggest } from "../../diagnostics/suggestion.ts";
import { type BackendPolicies, mergeBackendPolicies } from "../../model/backend-policies.ts";
import type { Traffic } from "../../model/traffic.ts";
import { type PolicyConfig, policyOf } from "../../policies/index.ts";
import {
  type Attached,
  fullName,
  type NamedListener,
  type PoliciesByTarget,
  type RoutePlacement,
} from "./attached.ts";
import { attachmentsTo } from "./attachments.ts";
import { mergePolicies } from "./route-groups.ts";
import { readPolicies } from "./route-parts.ts";

/** Services needed to read the `policies` of a file. */
interface AttachedContext {
  readonly broken: readonly ConfigPath[];
  readonly diagnostics: Diagnostics;
  /** Name of the file's gateway that targets may use instead of `default`; absent if it has no other name. */
  readonly gateway?: GatewayName | undefined;
  /** Names of the file's `gateways`. */
  readonly gateways: readonly string[];
}

/** A gateway by its names. */
export interface GatewayName {
  readonly name: string;
  readonly namespace: string;
}

/** The listeners and routes that policies of the file can target. */
export interface PolicyTargets {
  readonly listeners: readonly NamedListener[];
  readonly routes: readonly string[];
}

/**
 * A policy of the file with its target: one listener, those of a port or of one of the `gateways`, all listeners, or the
 * routes with a name, or with a name of their rule, too.
 */
interface AttachedPolicy extends Attached {
  readonly phase: "route" | "gateway";
  readonly target:
    | {
        readonly kind: "listeners";
        readonly gateway?: string;
        readonly name?: string;
        readonly port?: number;
      }
    | { readonly kind: "route"; readonly name: string; readonly ruleName?: string };
  readonly origin: Origin;
}

const NOTHING: Attached = { policies: [], backendPolicies: undefined };

/** The `policies` of a file, by target. */
export class AttachedPolicies implements PoliciesByTarget {
  readonly isPartial: boolean;
  readonly #all: readonly AttachedPolicy[];

  constructor(
    values: readonly (AttachedPolicyValue | undefined)[],
    origin: Origin,
    context: AttachedContext,
  ) {
    this.isPartial = isPartial(origin, context);
    this.#all = values.flatMap((value, index) =>
      value === undefined ? [] : [readAttached(value, childOf(origin, index), context)],
    );
    this.#all.forEach((each, index) => {
      for (const before of this.#all.slice(0, index))
        reportTwice(before, each, context.diagnostics);
    });
  }

  onRoutes(listener: NamedListener): Attached {
    return this.#ofListener(listener, "route");
  }

  before(listener: NamedListener): readonly PolicyConfig[] {
    return this.#ofListener(listener, "gateway").policies;
  }

  onRoute(name: string | undefined, ruleName?: string): Attached {
    const found = this.#all.filter(
      ({ target }) =>
        target.kind === "route" &&
        target.name === name &&
        (target.ruleName ?? ruleName) === ruleName,
    );
    return joined(found.toSorted((a, b) => precision(a) - precision(b)));
  }

  /** Reports targets that do not exist, whose policies would have no effect. */
  reportIdle({ listeners, routes }: PolicyTargets, diagnostics: Diagnostics): void {
    for (const { target, origin } of this.#all) {
      const at = childOf(origin, "target");
      if (target.kind === "route") {
        const name = fullName(target) ?? "";
        const isOf = (route: string): boolean =>
          route === name || (target.ruleName === undefined && route.startsWith(`${name}/`));
        if (routes.some(isOf)) continue;
        const place = childOf(at, "route", target.ruleName === undefined ? "name" : "ruleName");
        missing(`route "${name}"`, place, routes, name, diagnostics);
        continue;
      }
      if (listeners.some((listener) => isAbout(target, listener))) continue;
      const { name, port } = target;
      const names = listeners.map((each) => each.name);
      if (name !== undefined)
        missing(
          `listener "${name}"`,
          childOf(at, "gateway", "listenerName"),
          names,
          name,
          diagnostics,
        );
      else if (port !== undefined)
        missing(`listener of port ${port}`, childOf(at, "gateway", "port"), names, "", diagnostics);
      else missing("listener in this file", keyPlace(childOf(at, "gateway")), [], "", diagnostics);
    }
  }

  /**
   * Joins the policies of a listener. Those for one listener override those for its port, and these override those
   * for all.
   */
  #ofListener(listener: NamedListener, phase: AttachedPolicy["phase"]): Attached {
    const found = this.#all.filter(
      (each) => each.phase === phase && isAbout(each.target, listener),
    );
    return joined(found.toSorted((a, b) => precision(a) - precision(b)));
  }
}

/**
 * Returns what a route with these hostnames inherits from its listeners, once for listeners that differ in nothing. A
 * route without listeners inherits nothing.
 */
export function placementsOf(
  listeners: readonly ListenerResource[],
  hostnames: readonly string[],
  attached: PoliciesByTarget,
): readonly RoutePlacement[] {
  if (listeners.length === 0) return [{ ...NOTHING, listeners: [], isPassedOn: false }];
  const found: RoutePlacement[] = [];
  for (const attachment of attachmentsTo(listeners, hostnames)) {
    const listener = listeners.find(({ key }) => key === attachment.listener);
    if (listener === undefined) continue;
    const inherited = { ...attached.onRoutes(listener), isPassedOn: isPassedOn(listener) };
    const index = found.findIndex(({ listeners: _, ...each }) =>
      isDeepStrictEqual(each, inherited),
    );
    const known = found[index];
    if (known === undefined) found.push({ ...inherited, listeners: [attachment] });
    else found[index] = { ...known, listeners: [...known.listeners, attachment] };
  }
  return found;
}

/**
 * Removes attached policies, and optional ones, that have no effect here because there is no traffic for them;
 * `undefined` traffic is unknown.
 */
export function actingThere(
  policies: readonly PolicyConfig[],
  { policies: attached }: Attached,
  carried: readonly Traffic[] | undefined,
): readonly PolicyConfig[] {
  if (carried === undefined) return policies;
  return policies.filter((each) => {
    const { actsOn, isOptional = false } = policyOf(each.kind).traits;
    return (!attached.includes(each) && !isOptional) || acts(actsOn, carried);
  });
}

/** Merges policies; the specific ones override the general ones. */
export function over(general: Attached, specific: Attached): Attached {
  return {
    policies: mergePolicies(general.policies, specific.policies),
    backendPolicies:
      specific.backendPolicies === undefined
        ? general.backendPolicies
        : mergeBackendPolicies(general.backendPolicies, specific.backendPolicies),
  };
}

function precision({ target }: AttachedPolicy): number {
  if (target.kind === "route") return target.ruleName === undefined ? 0 : 1;
  if (target.name !== undefined) return 2;
  return target.port !== undefined || target.gateway !== undefined ? 1 : 0;
}

/**
 * Reports values that two policies set for the same target, because neither takes precedence. Rules are joined, so
 * they are excluded.
 */
function reportTwice(before: AttachedPolicy, each: AttachedPolicy, diagnostics: Diagnostics): void {
  if (before.phase !== each.phase || !isDeepStrictEqual(before.target, each.target)) return;
  const replaced = (of: AttachedPolicy) => [
    ...of.policies.filter(({ kind }) => policyOf(kind).lowering.merge === "replace"),
    ...sectionsOf(of.backendPolicies ?? {}),
  ];
  for (const { origin } of replaced(each)) {
    const name = origin.path.at(-1);
    const first = replaced(before).find((other) => other.origin.path.at(-1) === name);
    if (first === undefined) continue;
    const related = [{ at: keyPlace(first.origin), label: "the first one" }];
    diagnostics.report("attached-twice", keyPlace(origin), { field: String(name) }, related);
  }
}

/** Merges policies, given in ascending precedence. */
function joined(all: readonly AttachedPolicy[]): Attached {
  return all.reduce<Attached>(over, NOTHING);
}

function isAbout(target: AttachedPolicy["target"], { key, name, port }: NamedListener): boolean {
  if (target.kind !== "listeners" || (target.port ?? port) !== port) return false;
  const { gateway } = target;
  if (gateway === undefined) return (target.name ?? name) === name;
  const isOfGateway = `${key}/`.startsWith(`gateways/${gateway}/`);
  return isOfGateway && [name, `${gateway}/${target.name}`].includes(target.name ?? name);
}

function readAttached(
  { target, phase = "route", policy }: AttachedPolicyValue,
  origin: Origin,
  { diagnostics, gateway: owner, gateways }: AttachedContext,
): AttachedPolicy {
  const place = childOf(origin, "policy");
  const policies = readPolicies(policy, place, diagnostics);
  const backendPolicies = readBackendPolicies(policy, place);
  const { gateway, route } = target;
  if (phase === "gateway") reportOfRoutes(policies, backendPolicies, diagnostics);
  const at = childOf(origin, "target");
  if (route !== undefined) {
    if (phase === "gateway") {
      const params = { field: '"phase: gateway"', actsOn: "listeners", found: "a route" };
      diagnostics.report("misplaced-field", childOf(origin, "phase"), params);
    }
    checkName("namespace", route.namespace, [], childOf(at, "route", "namespace"), diagnostics);
    const { name, ruleName } = route;
    const ofName = { kind: "route", name, ...(ruleName !== undefined && { ruleName }) } as const;
    return { phase, target: ofName, policies, backendPolicies, origin };
  }
  const { gatewayName, gatewayNamespace, listenerName, port } = gateway ?? {};
  // `default` is agentgateway's name of the whole file, even if one of the `gateways` has this name.
  const named = gateways.find((each) => each === gatewayName && each !== DEFAULT_NAME);
  const nameAt = childOf(at, "gateway", "gatewayName");
  const namespaceAt = childOf(at, "gateway", "gatewayNamespace");
  checkName(
    "gateway",
    gatewayName,
    [...gateways, ...(owner ? [owner.name] : [])],
    nameAt,
    diagnostics,
  );
  const namespaces = owner ? [owner.namespace] : [];
  checkName("namespace", gatewayNamespace, namespaces, namespaceAt, diagnostics);
  const meant = {
    kind: "listeners",
    ...(named !== undefined && { gateway: named }),
    ...(listenerName !== undefined && { name: listenerName }),
    ...(port !== undefined && { port }),
  } as const;
  return { phase, target: meant, policies, backendPolicies, origin };
}

/** Reports a name that is neither that of the whole file nor one of `others`. */
function checkName(
  what: "gateway" | "namespace",
  name: string | undefined,
  others: readonly string[],
  origin: Origin,
  diagnostics: Diagnostics,
): void {
  const known = [...new Set([...others, DEFAULT_NAME])];
  if (name !== undefined && !known.includes(name))
    missing(`${what} "${name}"`, origin, known, name, diagnostics);
}

/** Reports policies that do not act before a route is chosen. */
function reportOfRoutes(
  policies: readonly PolicyConfig[],
  backendPolicies: BackendPolicies | undefined,
  diagnostics: Diagnostics,
): void {
  const ofRoutes = policies.filter(({ kind }) => !policyOf(kind).scope.includes("listener"));
  for (const { origin } of [...ofRoutes, ...sectionsOf(backendPolicies ?? {})]) {
    const params = {
      field: `"${origin.path.at(-1)}"`,
      actsOn: "routes (`phase: route`)",
      found: "requests before their route is chosen",
    };
    diagnostics.report("misplaced-field", keyPlace(origin), params);
  }
}

function missing(
  what: string,
  at: Origin,
  candidates: readonly string[],
  name: string,
  diagnostics: Diagnostics,
): void {
  const near = suggest(name, candidates);
  diagnostics.report("missing-reference", at, {
    what,
    candidates: [...new Set(candidates)].map((each) => `"${each}"`),
    ...(near === undefined ? {} : { near }),
  });
}
