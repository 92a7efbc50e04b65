import type { Origin } from "../../diagnostics/diagnostic.ts";
import type { AiConfig, ProviderConfig } from "./ai-config.ts";
import { SERVER_FORMATS } from "./providers/presets.ts";

/** Address of a server that is unknown, which no name server knows either. */
export const UNRESOLVED = "unresolved.invalid:80";

/** Returns models by name with those refused that have mistakes; the same configuration if there are none. */
export function withoutBrokenModels(
  config: AiConfig,
  isBroken: (origin: Origin) => boolean,
  place: Origin,
): AiConfig {
  const { models, virtualModels = [], conditions } = config;
  if (models === undefined) return config;
  const broken = virtualModels.filter(({ origin }) => isBroken(origin));
  const closed = new Set(
    config.groups.filter((group) => group.some(({ origin }) => isBroken(origin))),
  );
  if (broken.length + closed.size === 0) return config;
  const groups = config.groups.map((group, index) =>
    closed.has(group) ? [refusedProvider(models[index] ?? "", place)] : group,
  );
  const left = conditions?.map((each, index) =>
    config.groups.some((group, at) => at === index && closed.has(group)) ? undefined : each,
  );
  return {
    ...config,
    models: [...models, ...broken.map(({ name }) => name)],
    ...(left && { conditions: left }),
    groups: [...groups, ...broken.map(({ name }) => [refusedProvider(name, place)])],
    virtualModels: virtualModels.filter((each) => !broken.includes(each)),
  };
}

/**
 * Returns a provider that is never reached, for a model with mistakes: its requests get 503, and none reaches a
 * model whose pattern matches the name, too.
 */
export function refusedProvider(name: string, origin: Origin): ProviderConfig {
  return {
    name,
    options: { kind: "custom", value: { formats: SERVER_FORMATS.map((type) => ({ type })) } },
    optionsOrigin: origin,
    server: { address: UNRESOLVED, isBaseUrl: false, origin },
    ...{ port: undefined, prefix: undefined, path: undefined, tokenize: undefined },
    policies: undefined,
    origin,
  };
}
