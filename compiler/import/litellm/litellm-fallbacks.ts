import { fieldsIn, listIn, textsIn } from "../proxy/fields.ts";
import type { DraftFields } from "../proxy/route-draft.ts";
import type { SourceFields } from "../source-fields.ts";

/** An entry of `llm.models`. */
export interface LiteLlmModel extends DraftFields {
  readonly name: string;
  readonly provider: string;
  readonly params: DraftFields;
}

/** Tokens per minute and requests per minute. */
export interface ModelLimits {
  readonly tpm: number | undefined;
  readonly rpm: number | undefined;
}

/** Names of models that take over, in order, by the name of the model that fails. */
type Fallbacks = ReadonlyMap<string, readonly string[]>;

const SECTIONS = ["router_settings", "litellm_settings"] as const;

/** Returns the fallback models of each model, by name. Names that stand for several models have none. */
export function fallbacksOf(source: SourceFields, names: ReadonlySet<string>): Fallbacks {
  const found = new Map<string, readonly string[]>();
  const isExact = (name: string) => names.has(name) && !name.includes("*");
  for (const section of SECTIONS) {
    const { fallbacks } = fieldsIn(fieldsIn(source.value)[section]);
    listIn(fallbacks).forEach((each, index) => {
      for (const [name, others] of Object.entries(fieldsIn(each))) {
        const wanted = textsIn(others);
        if (!isExact(name) || wanted.length === 0 || !wanted.every(isExact)) continue;
        source.take(section, "fallbacks", index, name);
        found.set(name, wanted);
      }
    });
  }
  for (const section of SECTIONS) {
    const wanted = textsIn(fieldsIn(fieldsIn(source.value)[section]).default_fallbacks);
    if (wanted.length === 0 || !wanted.every(isExact)) continue;
    source.take(section, "default_fallbacks");
    for (const name of names) {
      const others = wanted.filter((other) => other !== name);
      if (isExact(name) && !found.has(name) && others.length > 0) found.set(name, others);
    }
  }
  return found;
}

/** Returns how long a failed server is not used: `cooldown_time`. */
export function cooldownOf(source: SourceFields): string | undefined {
  for (const section of SECTIONS) {
    const { cooldown_time: seconds } = fieldsIn(fieldsIn(source.value)[section]);
    if (typeof seconds !== "number" || seconds <= 0) continue;
    source.take(section, "cooldown_time");
    return `${Math.round(seconds * 1000)}ms`;
  }
  return undefined;
}

/** Models and virtual models of `llm`. */
export interface ModelsWithFallbacks {
  readonly models: readonly LiteLlmModel[];
  readonly virtualModels: readonly DraftFields[];
}

/**
 * Gives the models that have fallbacks names of their own, and their names to virtual models, which lead to them first
 * and to their fallbacks when they fail.
 */
export function withVirtualModels(
  models: readonly LiteLlmModel[],
  fallbacks: Fallbacks,
  cooldown: string | undefined,
): ModelsWithFallbacks {
  const names = new Set(models.map(({ name }) => name));
  const own = new Map<string, string>();
  for (const name of fallbacks.keys()) {
    let free = `${name}.own`;
    while (names.has(free)) free += "-2";
    names.add(free);
    own.set(name, free);
  }
  const reached = new Set([...fallbacks].flatMap(([name, others]) => [name, ...others]));
  const isShared = (name: string) => models.filter((each) => each.name === name).length > 1;
  const health = cooldown !== undefined && { health: { eviction: { duration: cooldown } } };
  return {
    models: models.map(({ name, ...rest }) => ({
      name: own.get(name) ?? name,
      ...(own.has(name) && { visibility: "internal" }),
      ...rest,
      ...((reached.has(name) || isShared(name)) && health),
    })),
    virtualModels: [...fallbacks].map(([name, others]) => ({
      name,
      routing: {
        failover: {
          targets: [name, ...others].map((each, index) => ({
            model: own.get(each) ?? each,
            priority: index + 1,
          })),
        },
      },
    })),
  };
}

/** Converts the limits of models to shared budgets of 1 per minute, of which each call uses its model's share. */
export function sharedLimits(limits: ReadonlyMap<string, ModelLimits>): readonly DraftFields[] {
  const known = [...limits].filter(([name]) => !name.includes("*"));
  const limit = (cost: (each: ModelLimits) => string | undefined): readonly DraftFields[] => {
    const costs = known.flatMap(([name, each]) => {
      const own = cost(each);
      return own === undefined ? [] : [`${REQUESTED} == ${JSON.stringify(name)} ? ${own} : `];
    });
    if (costs.length === 0) return [];
    return [{ budget: 1, unit: "Minutes", key: REQUESTED, cost: `${costs.join("")}0.0` }];
  };
  return [
    ...limit(({ tpm }) => (tpm === undefined ? undefined : `double(llm.totalTokens) / ${tpm}.0`)),
    ...limit(({ rpm }) => (rpm === undefined ? undefined : `1.0 / ${rpm}.0`)),
  ];
}

const REQUESTED = "json(request.body).model";
