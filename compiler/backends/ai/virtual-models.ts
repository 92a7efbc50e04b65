import { childOf, type Diagnostics, type Origin } from "../../diagnostics/diagnostic.ts";
import { suggest } from "../../diagnostics/suggestion.ts";
import type { CompiledExpression } from "../../model/expressions.ts";
import { camelCase } from "../../model/identifiers.ts";
import { type IdentityContext, resolveOfRequest } from "../parts/known-identities.ts";
import type { AiConfig, VirtualModelConfig, VirtualTarget } from "./ai-config.ts";
import { meansModel } from "./model-pattern.ts";
import type { VirtualModelValue } from "./virtual-models-schema.ts";

/** A virtual model, complete; `group` is the index of the provider group that serves a target. */
export interface VirtualModelNode {
  readonly name: string;
  /** The name as an identifier, not necessarily unique. */
  readonly id: string;
  readonly routing:
    | { readonly kind: "failover"; readonly tiers: readonly (readonly TargetNode[])[] }
    | {
        readonly kind: "weighted";
        readonly targets: readonly (TargetNode & { readonly weight: number })[];
      }
    | {
        readonly kind: "conditional";
        readonly targets: readonly ConditionalNode[];
      };
  readonly origin: Origin;
}

interface TargetNode {
  readonly model: string;
  readonly group: number;
}

interface ConditionalNode extends TargetNode {
  /** `undefined` for always. */
  readonly when: CompiledExpression | undefined;
}

/** Reads a virtual model of a file. */
export function readVirtualModel(
  { name, routing: { failover, weighted, conditional } }: VirtualModelValue,
  origin: Origin,
): VirtualModelConfig {
  const placeOf = (kind: string, index: number, field = "model"): Origin =>
    childOf(origin, "routing", kind, "targets", index, field);
  if (conditional !== undefined) {
    const targets = conditional.targets.map(({ model, when }, index) => ({
      model,
      when:
        when === undefined ? when : { text: when, origin: placeOf("conditional", index, "when") },
      origin: placeOf("conditional", index),
    }));
    return { name, routing: { kind: "conditional", targets }, origin };
  }
  if (failover === undefined) {
    const targets = (weighted?.targets ?? []).map(({ model, weight = 1 }, index) => ({
      ...{ model, weight, origin: placeOf("weighted", index) },
    }));
    return { name, routing: { kind: "weighted", targets }, origin };
  }
  const targets = failover.targets.map(({ model, priority }, index) => ({
    ...{ model, priority, origin: placeOf("failover", index) },
  }));
  return { name, routing: { kind: "failover", tiers: tiersOf(targets) }, origin };
}

/** Returns the targets of each priority, in order. */
export function tiersOf(
  targets: readonly (VirtualTarget & { readonly priority: number })[],
): readonly (readonly VirtualTarget[])[] {
  const byPriority = Map.groupBy(targets, ({ priority }) => priority);
  return [...byPriority]
    .toSorted(([a], [b]) => a - b)
    .map(([, tier]) => tier.map(({ model, origin }) => ({ model, origin })));
}

/** Resolves the virtual models; returns `undefined` if a mistake was reported. */
export function resolveVirtualModels(
  config: AiConfig,
  context: IdentityContext,
): readonly VirtualModelNode[] | undefined {
  const { models = [], virtualModels = [] } = config;
  const { diagnostics } = context;
  const names = new Set(models);
  const found = virtualModels.flatMap((each) => {
    if (names.has(each.name)) {
      diagnostics.report("repeated-model", childOf(each.origin, "name"), { name: each.name });
      return [];
    }
    names.add(each.name);
    reportConditions(each, config, diagnostics);
    return resolved(each, config, context) ?? [];
  });
  return found.length === virtualModels.length ? found : undefined;
}

/**
 * Returns the groups that fail over to each other through a virtual model, so that there is another one to fall
 * back to.
 */
export function sharedGroups({ models = [], virtualModels = [] }: AiConfig): ReadonlySet<number> {
  const shared = new Set<number>();
  for (const { routing } of virtualModels) {
    if (routing.kind !== "failover" || routing.tiers.flat().length < 2) continue;
    for (const { model } of routing.tiers.flat()) shared.add(groupOf(model, models));
  }
  return shared;
}

/**
 * Describes a virtual model, as in `best is gpt-5, else nova`, `mixed is 3/4 nova, 1/4 gpt-5` or `smart is nova
 * where llmRequest.stream, else gpt-5`.
 */
export function virtualModelText({ name, routing }: VirtualModelNode): string {
  if (routing.kind === "failover") {
    const tiers = routing.tiers.map((tier) => tier.map(({ model }) => model).join(" or "));
    return `${name} is ${tiers.join(", else ")}`;
  }
  if (routing.kind === "conditional") {
    const cases = routing.targets.map(
      ({ model, when }) => `${model}${when === undefined ? "" : ` where ${when.source}`}`,
    );
    return `${name} is ${cases.join(", else ")}`;
  }
  const total = routing.targets.reduce((sum, { weight }) => sum + weight, 0);
  const shares = routing.targets.map(({ model, weight }) => `${weight}/${total} ${model}`);
  return `${name} is ${shares.join(", ")}`;
}

/** Returns all models that a virtual model leads to. */
export function routedTargets<Target>(routing: RoutedTargets<Target>): readonly Target[] {
  return routing.kind === "failover" ? routing.tiers.flat() : routing.targets;
}

/** The targets of a virtual model, configured or resolved. */
type RoutedTargets<Target> =
  | { readonly kind: "failover"; readonly tiers: readonly (readonly Target[])[] }
  | { readonly kind: "weighted" | "conditional"; readonly targets: readonly Target[] };

function resolved(
  { name, routing, origin }: VirtualModelConfig,
  { models = [], virtualModels = [] }: AiConfig,
  context: IdentityContext,
): VirtualModelNode | undefined {
  const { diagnostics } = context;
  const targets = routedTargets<VirtualTarget>(routing);
  const unknown = targets.filter(({ model }) => groupOf(model, models) === -1);
  for (const { model, origin } of unknown) {
    const isVirtual = virtualModels.some((each) => each.name === model);
    const suggestion = isVirtual ? undefined : suggest(model, models);
    diagnostics.report("unknown-virtual-target", origin, { model, isVirtual, suggestion });
  }
  const isKnown = unknown.length === 0;
  // Conditions are checked all the same.
  if (!isKnown && routing.kind !== "conditional") return undefined;
  const known = { name, id: camelCase(name), origin };
  const nodeOf = ({ model }: VirtualTarget): TargetNode => ({
    model,
    group: groupOf(model, models),
  });
  if (routing.kind === "failover") {
    const tiers = routing.tiers.map((tier) => tier.map(nodeOf));
    return { ...known, routing: { kind: "failover", tiers } };
  }
  if (routing.kind === "weighted") {
    const targets = routing.targets.map((target) => ({ ...nodeOf(target), weight: target.weight }));
    return { ...known, routing: { kind: "weighted", targets } };
  }
  reportEarlyRest(routing.targets, diagnostics);
  const conditional = routing.targets.flatMap(({ when, ...target }): readonly ConditionalNode[] => {
    if (when === undefined) return [{ ...nodeOf(target), when }];
    const compiled = resolveOfRequest(when, { phase: "llm", slot: "filter" }, context);
    return compiled === undefined ? [] : [{ ...nodeOf(target), when: compiled }];
  });
  if (!isKnown || conditional.length < routing.targets.length) return undefined;
  return { ...known, routing: { kind: "conditional", targets: conditional } };
}

/** Reports targets of a failover with entries that headers choose: which are tried would depend on the request. */
function reportConditions(
  { routing }: VirtualModelConfig,
  { models = [], conditions = [] }: AiConfig,
  diagnostics: Diagnostics,
): void {
  if (routing.kind !== "failover") return;
  for (const { model, origin } of routing.tiers.flat()) {
    const name = models[groupOf(model, models)];
    const entries = models.flatMap((each, group) => (each === name ? [conditions[group]] : []));
    const hasMatches = entries.some((each) => each !== undefined && each.matches.length > 0);
    if (hasMatches || (entries.length > 1 && entries.some((each) => each !== undefined)))
      diagnostics.report("failover-of-conditions", origin, { model });
  }
}

/** Reports targets behind an unconditional one, which get no requests. */
function reportEarlyRest(
  targets: Extract<VirtualModelConfig["routing"], { kind: "conditional" }>["targets"],
  diagnostics: Diagnostics,
): void {
  const early = targets.find(({ when }, index) => when === undefined && index < targets.length - 1);
  if (early !== undefined) {
    diagnostics.report("early-virtual-target", early.origin, { model: early.model });
  }
}

/**
 * Returns the index of the model that a name matches at run time: an equal name, or else the longest pattern; -1
 * if none.
 */
function groupOf(name: string, models: readonly string[]): number {
  const same = models.indexOf(name);
  if (same !== -1) return same;
  const [longest] = models
    .filter((model) => meansModel(model, name))
    .toSorted((a, b) => b.length - a.length);
  return longest === undefined ? -1 : models.indexOf(longest);
}
