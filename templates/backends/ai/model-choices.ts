import type { BackendNode } from "../../../compiler/ir/backends.ts";
import { code, literal } from "../../code/code.ts";
import type { Code, ImportSymbol, Printable } from "../../code/hole.ts";
import { imported } from "../../code/names.ts";
import { call, value } from "../../code/syntax.ts";
import { choiceOfCalls, type ModelChoice } from "./choices.ts";
import type { AiFunctions } from "./functions.ts";
import { affinityCode } from "./targets.ts";

type AiNode = BackendNode<"ai">;

const CALLS = "gwc/runtime/llm/calls";
const VIRTUAL = `${CALLS}/virtual-models`;

/** The models of a front door, for one route type. */
export class ServedModels {
  readonly #node: AiNode;
  readonly #targetsOf: (group: number) => readonly Code[];
  readonly #functions: AiFunctions;

  /** `targetsOf`: returns the targets of a group that serve the route type. */
  constructor(node: AiNode, targetsOf: (group: number) => readonly Code[], functions: AiFunctions) {
    this.#node = node;
    this.#targetsOf = targetsOf;
    this.#functions = functions;
  }

  /** Writes the choice among the targets of a model; `undefined` if none serves the route type. */
  choice(model: string): ModelChoice | undefined {
    return this.#choiceOf(model, (target) => target);
  }

  /** The same for a virtual model, which requests `model` in the group of a served model. */
  virtualChoice(model: string, group: number): ModelChoice | undefined {
    return this.#choiceOf(this.#node.served?.[group], (target) => requesting(model, target));
  }

  /** Returns the targets of a group for a virtual model, whatever its conditions. */
  targets(model: string, group: number): readonly Code[] {
    return this.#targetsOf(group).map((target) => requesting(model, target));
  }

  /** Returns the targets of a group for a failover, each with the rules of who may use it. */
  ruledTargets(model: string, group: number): readonly Printable[] {
    const { authorize } = this.#functions.conditions(group);
    return this.targets(model, group).map((target) => ({ authorize, target }));
  }

  /** Whether a group has rules of who may use it. */
  isRuled(group: number): boolean {
    return this.#node.conditions[group] !== undefined;
  }

  /** Returns the function that returns the key of requests for the same provider; `undefined` if health decides. */
  affinity(group: number): ImportSymbol | undefined {
    const [first] = this.#node.groups[group] ?? [];
    return first && affinityCode(first);
  }

  #choiceOf(served: string | undefined, made: (target: Code) => Code): ModelChoice | undefined {
    const { served: all = [], conditions } = this.#node;
    const entries = all.flatMap((model, group) => {
      const targets = model === served ? this.#targetsOf(group).map(made) : [];
      return targets.length === 0 ? [] : [{ group, targets: choiceOfCalls([targets]) }];
    });
    const [first] = entries;
    if (first === undefined || served === undefined) return undefined;
    if (entries.every(({ group }) => conditions[group] === undefined)) {
      const { targets } = first;
      return this.affinity(first.group) === undefined
        ? { model: served, targets }
        : { model: served, targets, isConditional: true };
    }
    const written: readonly Readonly<Record<string, Printable | undefined>>[] = entries.map(
      ({ group, targets }) => ({ ...this.#functions.conditions(group), targets }),
    );
    return {
      model: served,
      targets: code`${imported(`${CALLS}/model-entries`, "byEntry")}(${literal(written)})`,
      isConditional: true,
      mayPass: entries.every(({ group }) => (conditions[group]?.matches.length ?? 0) > 0),
    };
  }
}

function requesting(model: string, target: Code): Code {
  return code`${call(imported(VIRTUAL, "requesting"), [value(model), target])}`;
}

/** Writes the choices of virtual models. */
export function virtualChoices(
  virtual: AiNode["virtualModels"],
  models: ServedModels,
  functions: AiFunctions,
): readonly ModelChoice[] {
  return virtual.flatMap((each): readonly ModelChoice[] => {
    const { name: model, routing } = each;
    if (
      routing.kind === "failover" &&
      routing.tiers.flat().some(({ group }) => models.isRuled(group))
    ) {
      const tiers = routing.tiers
        .map((tier) => tier.flatMap((target) => models.ruledTargets(target.model, target.group)))
        .filter((group) => group.length > 0);
      const targets = code`${imported(`${CALLS}/allowed-groups`, "inAllowedGroups")}(${literal(tiers)})`;
      return tiers.length === 0 ? [] : [{ model, targets, isConditional: true }];
    }
    if (routing.kind === "failover") {
      const groups = routing.tiers
        .map((tier) => tier.flatMap((target) => models.targets(target.model, target.group)))
        .filter((group) => group.length > 0);
      if (groups.length === 0) return [];
      const isSticky = routing.tiers.flat().some(({ group }) => models.affinity(group));
      const targets = choiceOfCalls(groups);
      return [isSticky ? { model, targets, isConditional: true } : { model, targets }];
    }
    const choices = routing.targets.map((target) => ({
      ...target,
      choice: models.virtualChoice(target.model, target.group),
    }));
    if (choices.every(({ choice }) => choice === undefined)) return [];
    if (routing.kind === "conditional") {
      const written = choices.map(({ choice }) => choice?.targets ?? choiceOfCalls([[]]));
      const chosen = functions.condition(each);
      const targets = call(imported(VIRTUAL, "byCondition"), [chosen, code`${literal(written)}`]);
      return [{ model, targets, isConditional: true }];
    }
    const shares = routing.targets.flatMap(({ weight }, index) => {
      const targets = choices[index]?.choice?.targets;
      return targets === undefined ? [] : [[weight, targets] as const];
    });
    const affinity = routing.targets.map(({ group }) => models.affinity(group)).find(isDefined);
    const byWeight = imported(VIRTUAL, "byWeight");
    const targets =
      affinity === undefined
        ? code`${byWeight}(${literal(shares)})`
        : code`${byWeight}(${literal(shares)}, ${affinity})`;
    // One of the models that it leads to may depend on the request.
    return [{ model, targets, isConditional: true }];
  });
}

function isDefined<Value>(value: Value | undefined): value is Value {
  return value !== undefined;
}
