import type { VirtualModelConfig, VirtualTarget } from "../../../backends/ai/ai-config.ts";
import { meansModel } from "../../../backends/ai/model-pattern.ts";
import { tiersOf } from "../../../backends/ai/virtual-models.ts";
import { childOf, type Origin } from "../../../diagnostics/diagnostic.ts";
import type { ModelTargetSpec } from "../../../manifests/model.ts";
import { resourceName } from "../inventory/inventory.ts";
import { type ReferenceContext, reportMissing } from "../inventory/references.ts";
import { type ModelManifest, nameOfModel } from "./model-tables.ts";

/** Reads a virtual model; `undefined` if one of its targets is unknown (reported). */
export function virtualModelOf(
  model: ModelManifest,
  name: string,
  context: ReferenceContext,
): VirtualModelConfig | undefined {
  const { weighted, failover, conditional } = model.spec?.virtualModel ?? {};
  const origin = childOf(model.origin, "spec", "virtualModel");
  const read = <Target extends ModelTargetSpec, Read>(
    kind: string,
    targets: readonly Target[],
    more: (target: Target, at: Origin) => Read,
  ): readonly (VirtualTarget & Read)[] | undefined => {
    const found = targets.map((target, index) => {
      const at = childOf(origin, kind, "targets", index);
      const known = targetOf(target, model, at, context);
      return known && { ...known, ...more(target, at) };
    });
    return found.every((each) => each !== undefined) ? found : undefined;
  };
  const known = { name, origin: model.origin };
  if (weighted !== undefined) {
    const targets = read("weighted", weighted.targets, ({ weight = 1 }) => ({ weight }));
    return targets && { ...known, routing: { kind: "weighted", targets } };
  }
  if (failover !== undefined) {
    const targets = read("failover", failover.targets, ({ priority }) => ({ priority }));
    return targets && { ...known, routing: { kind: "failover", tiers: tiersOf(targets) } };
  }
  const targets = read("conditional", conditional?.targets ?? [], ({ when }, at) => ({
    when: when === undefined ? undefined : { text: when, origin: childOf(at, "when") },
  }));
  return targets && { ...known, routing: { kind: "conditional", targets } };
}

/** Returns the model of a target by the name that clients use; `undefined` if it is unknown (reported). */
function targetOf(
  { modelRef, model: wanted }: ModelTargetSpec,
  from: ModelManifest,
  at: Origin,
  context: ReferenceContext,
): VirtualTarget | undefined {
  const { namespace } = from;
  const { name } = modelRef;
  const target = context.inventory.find("GatewayModel", namespace, name);
  if (target === undefined) {
    const origin = childOf(at, "modelRef");
    reportMissing({ kind: "GatewayModel", namespace, name, origin }, context);
    return undefined;
  }
  const serves = nameOfModel(target);
  const model = wanted ?? serves;
  const origin = childOf(at, ...(wanted === undefined ? ["modelRef", "name"] : ["model"]));
  if (target.spec === undefined || (meansModel(serves, model) && !model.includes("*")))
    return { model, origin };
  const params = { target: resourceName(target), serves, model: wanted };
  context.diagnostics.report("model-of-target", origin, params);
  return undefined;
}
