import { fieldsIn, textIn } from "../proxy/fields.ts";
import type { DraftFields } from "../proxy/route-draft.ts";
import { hasUser, plainText, secretName } from "../proxy/texts.ts";

/** An `ai` backend and the policies that its route needs. */
export interface ModelBackend {
  readonly backend: DraftFields;
  readonly policies: DraftFields;
}

/** Converts the targets of Kong's AI proxy; returns the reason as a string if that is impossible. */
export function modelBackend(
  targets: readonly DraftFields[],
  config: DraftFields,
  place: string,
  notes: string[],
): ModelBackend | string {
  const made = targets.map((target, index) => providerOf(target, index, place, notes));
  const wrong = made.find((each) => typeof each === "string");
  if (typeof wrong === "string") return wrong;
  const known = made.filter((each) => typeof each !== "string");
  const types = new Set(targets.map(({ route_type: type }) => textIn(type)));
  const [type = "llm/v1/chat"] = types;
  const kind = {
    "llm/v1/chat": "completions",
    "llm/v1/embeddings": "embeddings",
    "llm/v1/responses": "responses",
  }[type];
  if (types.size > 1 || kind === undefined) return `route_type ${[...types].join(", ")}`;
  const { algorithm } = fieldsIn(config.balancer);
  const isPriority = algorithm === "priority";
  if (targets.length > 1)
    notes.push(
      isPriority
        ? `${place}: the order of groups is preserved; weights within a group are lost`
        : `${place}: Kong balances by weight (${textIn(algorithm) ?? "round-robin"}); in gwc the targets share requests evenly`,
    );
  // Under its priority algorithm, Kong treats targets of the same weight as one group, the heaviest first.
  const weights = isPriority
    ? [...new Set(targets.map(({ weight = 100 }) => Number(weight)))].sort((a, b) => b - a)
    : [];
  const groups = isPriority
    ? weights.map((weight) => ({
        providers: known.filter((_, index) => Number(targets[index]?.weight ?? 100) === weight),
      }))
    : [{ providers: known }];
  return { backend: { ai: { groups } }, policies: { ai: { routes: { "*": kind } } } };
}

function providerOf(
  target: DraftFields,
  index: number,
  place: string,
  notes: string[],
): DraftFields | string {
  const model = fieldsIn(target.model);
  const options = fieldsIn(model.options);
  const auth = fieldsIn(target.auth);
  const provider = textIn(model.provider) ?? "";
  const name = textIn(model.name);
  const own = name === undefined ? {} : { model: plainText(name) };
  const url = textIn(options.upstream_url);
  const kinds: Readonly<Record<string, DraftFields>> = {
    openai: { openAI: own },
    anthropic: { anthropic: own },
    gemini: { gemini: own },
    mistral: { openAI: own },
    llama2: { openAI: own },
    bedrock: { bedrock: { ...own, region: textIn(fieldsIn(options.bedrock).aws_region) } },
    azure: {
      azure: {
        host: `${textIn(options.azure_instance) ?? "RESOURCE"}.openai.azure.com`,
        deploymentName: textIn(options.azure_deployment_id),
        apiVersion: textIn(options.azure_api_version),
      },
    },
  };
  const kind = kinds[provider];
  if (kind === undefined) return `gwc does not support the provider ${provider}`;
  if (url !== undefined && hasUser(url)) return "its URL has a user or password";
  const known = [
    "temperature",
    "max_tokens",
    "top_p",
    "top_k",
    "upstream_url",
    "bedrock",
    "azure_instance",
    "azure_deployment_id",
    "azure_api_version",
    "anthropic_version",
    "mistral_format",
    "llama2_format",
    "gemini",
  ];
  const other = Object.keys(options).find(
    (field) => options[field] !== null && !known.includes(field),
  );
  if (other !== undefined) return `model.options.${other}`;
  const [, server, path = ""] = /^(https?:\/\/[^/]+)(\/.*)?$/.exec(url ?? "") ?? [];
  const variable = secretName(`${provider}_${name ?? index}_API_KEY`);
  const hasKey = auth.header_value !== undefined || auth.param_value !== undefined;
  if (hasKey)
    notes.push(
      `${place}: put the key of ${name ?? provider} into the variable ${variable}, without "Bearer "`,
    );
  if (auth.allow_override === true) notes.push(`${place}: clients cannot use their own keys`);
  const defaults = Object.fromEntries(
    (["temperature", "max_tokens", "top_p"] as const).flatMap((field) =>
      options[field] === undefined || options[field] === null ? [] : [[field, options[field]]],
    ),
  );
  const policies = {
    ...(hasKey && { backendAuth: { key: `\${${variable}}` } }),
    ...(Object.keys(defaults).length > 0 && { ai: { overrides: defaults } }),
  };
  return {
    name: `${provider}-${index + 1}`,
    provider: kind,
    ...(server !== undefined && { hostOverride: plainText(server) }),
    ...(path.length > 1 && { pathOverride: plainText(path) }),
    ...(Object.keys(policies).length > 0 && { policies }),
  };
}
