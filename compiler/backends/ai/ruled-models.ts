import type { RuledModel } from "../backend.ts";
import type { AiNode } from "./ai-node.ts";
import { ruledModel } from "./resolve.ts";

/** Returns the models that clients can request, patterns included, with the rules of their entries. */
export function ruledModels({
  groups,
  served,
  conditions,
  internal,
  virtualModels,
}: AiNode): readonly RuledModel[] {
  if (served === undefined) {
    const models = groups.flat().map(({ model }) => model ?? "*");
    return [...new Set(models)].map((name) => ({ name, anyOf: [] }));
  }
  const own = served.filter((name) => !internal.includes(name));
  const names = new Set([...own, ...virtualModels.map(({ name }) => name)]);
  return [...names].map((name) => {
    const model = { id: name, owner: "" };
    const { ruledBy = [] } = ruledModel(model, { served, virtualModels, conditions });
    const entries = ruledBy.flatMap((group) => conditions[group] ?? []);
    return { name, anyOf: entries.map(({ rules, rulesAt: { origin } }) => ({ rules, origin })) };
  });
}
