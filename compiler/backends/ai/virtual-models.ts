import type { Diagnostics, Origin } from "../../diagnostics/diagnostic.ts";
import { childOf } from "../../diagnostics/diagnostic.ts";
import type { AiConfig, VirtualModelConfig, VirtualTarget } from "./ai-config.ts";
import type { VirtualModelValue } from "./virtual-models-schema.ts";

/** A virtual model, complete; `group`: which of the groups serves a target. */
export interface VirtualModelNode {
  readonly name: string;
  readonly routing:
    | { readonly kind: "failover"; readonly tiers: readonly (readonly TargetNode[])[] }
    | {
        readonly kind: "weighted";
        readonly targets: readonly (TargetNode & { readonly weight: number })[];
      };
}

interface TargetNode {
  readonly model: string;
  readonly group: number;
}

/** A virtual model of a file. */
export function readVirtualModel(
  { name, routing: { failover, weighted } }: VirtualModelValue,
  origin: Origin,
): VirtualModelConfig {
  const places = childOf(origin, "routing", failover === undefined ? "weighted" : "failover");
  const placeOf = (index: number): Origin => childOf(places, "targets", index, "model");
  if (failover === undefined) {
    const targets = (weighted?.targets ?? []).map(({ model, weight = 1 }, index) => ({
      ...{ model, weight, origin: placeOf(index) },
    }));
    return { name, routing: { kind: "weighted", targets }, origin };
  }
  const byPriority = new Map<number, VirtualTarget[]>();
  for (const [index, { model, priority }] of failover.targets.entries()) {
    const tier = byPriority.get(priority) ?? [];
    tier.push({ model, origin: placeOf(index) });
    byPriority.set(priority, tier);
  }
  const tiers = [...byPriority].toSorted(([a], [b]) => a - b).map(([, tier]) => tier);
  return { name, routing: { kind: "failover", tiers }, origin };
}

/** The virtual models of a front door, complete; undefined: a mistake was reported. */
export function resolveVirtualModels(
  { models = [], virtualModels = [] }: AiConfig,
  diagnostics: Diagnostics,
): readonly VirtualModelNode[] | undefined {
  const names = new Set(models);
  const found = virtualModels.flatMap((each) => {
    if (names.has(each.name)) {
      diagnostics.report("repeated-model", childOf(each.origin, "name"), { name: each.name });
      return [];
    }
    names.add(each.name);
    return resolved(each, models, diagnostics) ?? [];
  });
  return found.length === virtualModels.length ? found : undefined;
}

/** The groups that are asked one after the other in the place of a virtual model: there is another one to ask. */
export function sharedGroups({ models = [], virtualModels = [] }: AiConfig): ReadonlySet<number> {
  const shared = new Set<number>();
  for (const { routing } of virtualModels) {
    if (routing.kind !== "failover" || routing.tiers.flat().length < 2) continue;
    for (const { model } of routing.tiers.flat()) shared.add(groupOf(model, models));
  }
  return shared;
}

/** `best is gpt-5, else nova`, `mixed is 3/4 nova, 1/4 gpt-5`. */
export function virtualModelText({ name, routing }: VirtualModelNode): string {
  if (routing.kind === "failover") {
    const tiers = routing.tiers.map((tier) => tier.map(({ model }) => model).join(" or "));
    return `${name} is ${tiers.join(", else ")}`;
  }
  const total = routing.targets.reduce((sum, { weight }) => sum + weight, 0);
  const shares = routing.targets.map(({ model, weight }) => `${weight}/${total} ${model}`);
  return `${name} is ${shares.join(", ")}`;
}

function resolved(
  { name, routing }: VirtualModelConfig,
  models: readonly string[],
  diagnostics: Diagnostics,
): VirtualModelNode | undefined {
  const targets = routing.kind === "failover" ? routing.tiers.flat() : routing.targets;
  const unknown = targets.filter(({ model }) => groupOf(model, models) === -1);
  for (const { model, origin } of unknown) {
    diagnostics.report("unknown-virtual-target", origin, { model });
  }
  if (unknown.length > 0) return undefined;
  const nodeOf = ({ model }: VirtualTarget): TargetNode => ({
    model,
    group: groupOf(model, models),
  });
  if (routing.kind === "failover") {
    return {
      name,
      routing: { kind: "failover", tiers: routing.tiers.map((tier) => tier.map(nodeOf)) },
    };
  }
  const weighted = routing.targets.map((target) => ({ ...nodeOf(target), weight: target.weight }));
  return { name, routing: { kind: "weighted", targets: weighted } };
}

/** Which of the models a name means, as requests find it: the same name, else the longest one with `*`; -1: none. */
function groupOf(name: string, models: readonly string[]): number {
  const same = models.indexOf(name);
  if (same !== -1) return same;
  const [longest] = models
    .filter((model) => means(model, name))
    .toSorted((a, b) => b.length - a.length);
  return longest === undefined ? -1 : models.indexOf(longest);
}

function means(pattern: string, name: string): boolean {
  if (pattern.endsWith("*")) return name.startsWith(pattern.slice(0, -1));
  return pattern.startsWith("*") && name.endsWith(pattern.slice(1));
}
