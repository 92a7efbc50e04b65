import type { BackendNode } from "../../../compiler/ir/backends.ts";
import { code, literal } from "../../code/code.ts";
import type { Code } from "../../code/hole.ts";
import { imported } from "../../code/names.ts";
import { call, value } from "../../code/syntax.ts";
import { choiceOfCalls, type ModelChoice } from "./choices.ts";
import type { AiFunctions } from "./functions.ts";

const VIRTUAL = "gwc/runtime/llm/calls/virtual-models";

type VirtualModels = BackendNode<"ai">["virtualModels"];

/** Writes the choices of virtual models. `targetsOf`: returns the targets of a group that serve the route type. */
export function virtualChoices(
  models: VirtualModels,
  targetsOf: (group: number) => readonly Code[],
  functions: AiFunctions,
): readonly ModelChoice[] {
  const asked = ({ model, group }: { readonly model: string; readonly group: number }) =>
    targetsOf(group).map(
      (target) => code`${call(imported(VIRTUAL, "requesting"), [value(model), target])}`,
    );
  return models.flatMap((model): readonly ModelChoice[] => {
    const { name, routing } = model;
    if (routing.kind === "failover") {
      const groups = routing.tiers.map((tier) => tier.flatMap(asked)).filter(isSome);
      return groups.length === 0 ? [] : [{ model: name, targets: choiceOfCalls(groups) }];
    }
    if (routing.kind === "conditional") {
      const choices = routing.targets.map((target) => choiceOfCalls([asked(target)]));
      if (!routing.targets.some((target) => isSome(asked(target)))) return [];
      const chosen = functions.condition(model);
      const targets = call(imported(VIRTUAL, "byCondition"), [chosen, code`${literal(choices)}`]);
      return [{ model: name, targets, isConditional: true }];
    }
    const shares = routing.targets.flatMap((target) => {
      const targets = asked(target);
      return isSome(targets) ? [[target.weight, choiceOfCalls([targets])] as const] : [];
    });
    if (!isSome(shares)) return [];
    return [{ model: name, targets: code`${imported(VIRTUAL, "byWeight")}(${literal(shares)})` }];
  });
}

function isSome(list: readonly unknown[]): boolean {
  return list.length > 0;
}
