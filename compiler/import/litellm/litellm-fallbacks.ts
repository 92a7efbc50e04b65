import type { ConfigPath } from "../../diagnostics/diagnostic.ts";
import { literalPattern } from "../../model/literal-pattern.ts";
import type { ImportNote } from "../imported-text.ts";
import { fieldsIn, listIn, textsIn } from "../proxy/fields.ts";
import type { DraftFields } from "../proxy/route-draft.ts";
import { routeName } from "../proxy/texts.ts";
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

/** Returns the fallback models of each model, by name. */
export function fallbacksOf(
  source: SourceFields,
  names: ReadonlySet<string>,
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  for (const section of ["router_settings", "litellm_settings"] as const) {
    const { fallbacks } = fieldsIn(fieldsIn(source.value)[section]);
    listIn(fallbacks).forEach((each, index) => {
      for (const [name, others] of Object.entries(fieldsIn(each))) {
        const known = textsIn(others).filter((other) => names.has(other));
        if (!names.has(name) || known.length === 0 || known.length < textsIn(others).length)
          continue;
        const at: ConfigPath = [section, "fallbacks", index, name];
        source.take(...at);
        found.set(name, known);
      }
    });
  }
  return found;
}

/** Internal header, set before routing, with the model that a request names. */
const HEADER = "x-requested-model";

/** Creates a route per requested model, with groups of providers: later groups take over when earlier ones fail. */
export function routesOfModels(
  models: readonly LiteLlmModel[],
  limits: ReadonlyMap<string, ModelLimits>,
  fallbacks: ReadonlyMap<string, readonly string[]>,
  policies: DraftFields,
): { readonly value: DraftFields; readonly notes: readonly ImportNote[] } {
  const names = [...new Set(models.map(({ name }) => name))];
  const group = (name: string) => ({
    providers: models
      .filter((each) => each.name === name)
      .map((each, index) => providerOf(each, `${routeName(name)}-${index + 1}`)),
  });
  const routes = names.map((name) => {
    const value = name.includes("*")
      ? { regex: name.split("*").map(literalPattern).join(".*") }
      : { exact: name };
    const own = limitsOf(limits.get(name));
    const groups = [name, ...(fallbacks.get(name) ?? [])];
    const asked = models.filter((each) => groups.includes(each.name));
    return {
      name: routeName(name),
      matches: [{ path: { pathPrefix: "/" }, headers: [{ name: HEADER, value }] }],
      policies: {
        ...policies,
        ...(own.length > 0 && { localRateLimit: own }),
        ai: { routes: pathsOf(asked.map(({ provider }) => provider)) },
      },
      backends: [{ ai: { groups: groups.map(group) } }],
    };
  });
  const listener = {
    policies: {
      transformations: { request: { set: { [HEADER]: "string(json(request.body).model)" } } },
    },
    routes,
  };
  const at: ConfigPath = ["binds", 0, "listeners", 0];
  return {
    value: { binds: [{ port: 4000, listeners: [listener] }] },
    notes: [
      {
        path: at,
        text: "each model has its own route, so that it can have fallbacks; lists of models (GET /v1/models) are not served",
      },
      ...names.flatMap((name, index) =>
        fallbacks.has(name)
          ? [
              {
                path: [...at, "routes", index],
                text: "LiteLLM tries the next model when a request fails; gwc uses a later group while no provider of an earlier one is healthy (see health and retry)",
              },
            ]
          : [],
      ),
    ],
  };
}

/** Returns the API of each path; embeddings only if all providers have them. */
function pathsOf(kinds: readonly string[]): DraftFields {
  return {
    "/v1/chat/completions": "completions",
    "/chat/completions": "completions",
    "/v1/messages": "messages",
    "/v1/responses": "responses",
    ...(kinds.every((kind) => kind === "openai" || kind === "azure") && {
      "/v1/embeddings": "embeddings",
    }),
  };
}

function limitsOf(limits: ModelLimits | undefined): readonly DraftFields[] {
  return [
    ...(limits?.tpm === undefined ? [] : [{ tokens: limits.tpm, unit: "Minutes" }]),
    ...(limits?.rpm === undefined ? [] : [{ requests: limits.rpm, unit: "Minutes" }]),
  ];
}

function providerOf(
  { provider, params, defaults, requestHeaders }: LiteLlmModel,
  name: string,
): DraftFields {
  const { model, apiKey, hostOverride, pathOverride } = params;
  const kinds: Readonly<Record<string, DraftFields>> = {
    openai: { openAI: { model } },
    anthropic: { anthropic: { model } },
    gemini: { gemini: { model } },
    azure: { azure: { host: params.azureHost, model, apiVersion: params.azureApiVersion } },
    vertex: { vertex: { model, projectId: params.vertexProject, region: params.vertexRegion } },
    bedrock: { bedrock: { model, region: params.awsRegion } },
  };
  const own = {
    ...(apiKey !== undefined && { backendAuth: { key: apiKey } }),
    ...(defaults !== undefined && { ai: { defaults } }),
    ...(requestHeaders !== undefined && { requestHeaderModifier: requestHeaders }),
  };
  return {
    name,
    provider: kinds[provider] ?? {},
    ...(hostOverride !== undefined && { hostOverride }),
    ...(pathOverride !== undefined && { pathOverride }),
    ...(Object.keys(own).length > 0 && { policies: own }),
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
