import { isJsonObject } from "../../../runtime/json/json-object.ts";
import type { ConfigPath } from "../../diagnostics/diagnostic.ts";
import type { ImportDraft, ImportNote } from "../imported-text.ts";
import { hasUser, withoutUser } from "../proxy/texts.ts";
import type { SourceFields } from "../source-fields.ts";
import { fromEnvironment } from "./litellm-access.ts";
import { liteLlmCalls } from "./litellm-calls.ts";
import {
  cooldownOf,
  fallbacksOf,
  type LiteLlmModel,
  type ModelLimits,
  sharedLimits,
  withVirtualModels,
} from "./litellm-fallbacks.ts";

/** A JSON object of unknown shape. */
type Fields = Readonly<Record<string, unknown>>;

/** Converts the `config.yaml` of a LiteLLM proxy; returns the reason as a string if that is impossible. */
export function importLiteLlm(source: SourceFields): ImportDraft | string {
  const { model_list: list } = fieldsOf(source.value);
  if (!Array.isArray(list)) return "has no model_list: it is not a config.yaml of LiteLLM";
  const found = list.map((entry, index) => modelOf(fieldsOf(entry), index, source));
  const models = [...found, ...aliasesOf(found, source)];
  const converted = models.filter((each) => typeof each !== "string");
  const refused = models.filter((each) => typeof each === "string");
  if (converted.length === 0) return `has no model that can be served: ${refused.join("; ")}`;
  const policies = liteLlmCalls(source);
  const limits = limitsOf(list, source, new Set(converted.map(({ model }) => model.name)));
  const fallbacks = fallbacksOf(source, new Set(converted.map(({ model }) => model.name)));
  const open = policies.isClosed
    ? []
    : ["there is no master_key: every client that reaches the port may use every model"];
  const { models: served, virtualModels } = withVirtualModels(
    converted.map(({ model }) => model),
    fallbacks,
    cooldownOf(source),
  );
  // A request that fails is repeated at its next model, which LiteLLM does without retries, too.
  const tries = Math.max(0, ...[...fallbacks.values()].map((others) => others.length));
  const retry = policies.value.retry ?? (tries > 0 ? { attempts: tries } : undefined);
  const shared = sharedLimits(limits);
  const all: Fields = {
    ...policies.value,
    ...(retry !== undefined && { retry }),
    ...(shared.length > 0 && { localRateLimit: shared }),
  };
  return {
    value: {
      llm: {
        port: 4000,
        models: served,
        ...(virtualModels.length > 0 && { virtualModels }),
        ...(Object.keys(all).length > 0 && { policies: all }),
      },
    },
    notes: [
      ...[...open, ...refused].map((text) => note(["llm", "models"], text)),
      ...converted.flatMap(({ notes }, index) =>
        notes.map((text) => note(["llm", "models", index], text)),
      ),
      ...virtualModels.map((_, index) => note(["llm", "virtualModels", index], FAILOVER)),
      ...policies.notes.map(([field, text]) => note(["llm", "policies", field], text)),
      ...(shared.length > 0 ? [note(["llm", "policies", "localRateLimit"], SHARES)] : []),
    ],
  };
}

const FAILOVER =
  "LiteLLM tries the servers of one name before the next one; here each retry goes to the servers that have not failed, in the order of priorities";
const SHARES =
  "LiteLLM counts tpm and rpm per server and moves on to another one; gwc counts all servers of a model together, and each call uses its share of the minute's budget";

/** Sums `tpm` and `rpm` for each model name of which all servers have them. */
function limitsOf(
  list: readonly unknown[],
  source: SourceFields,
  names: ReadonlySet<string>,
): ReadonlyMap<string, ModelLimits> {
  const entries = list.map((each, index) => ({ entry: fieldsOf(each), index }));
  const sum = (name: string, field: "tpm" | "rpm"): number | undefined => {
    const own = entries.filter(({ entry }) => entry.model_name === name);
    const numbers = own.map(({ entry }) => fieldsOf(entry.litellm_params)[field]);
    if (numbers.some((each) => typeof each !== "number" || !Number.isInteger(each) || each < 1))
      return undefined;
    for (const { index } of own) source.take("model_list", index, "litellm_params", field);
    return numbers.reduce((total: number, each) => total + Number(each), 0);
  };
  const found = new Map<string, ModelLimits>();
  for (const name of names) {
    if (name.includes("*") || !entries.some(({ entry }) => entry.model_name === name)) continue;
    const limits = { tpm: sum(name, "tpm"), rpm: sum(name, "rpm") };
    if (limits.tpm !== undefined || limits.rpm !== undefined) found.set(name, limits);
  }
  return found;
}

/** A converted model, with notes for the user. */
interface ImportedModel {
  readonly model: LiteLlmModel;
  readonly notes: readonly string[];
}

function note(path: ConfigPath, text: string): ImportNote {
  return { path, text };
}

/** gwc's provider for each prefix of LiteLLM's model names. */
const PROVIDERS: Readonly<Record<string, string>> = {
  openai: "openai",
  text_completion_openai: "openai",
  custom_openai: "openai",
  openai_like: "openai",
  azure: "azure",
  azure_text: "azure",
  anthropic: "anthropic",
  gemini: "gemini",
  vertex_ai: "vertex",
  bedrock: "bedrock",
};

/** Providers whose API is OpenAI's, by prefix. */
const COMPATIBLE: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      ...["baseten", "cerebras", "cohere", "dashscope", "deepinfra", "deepseek", "groq"],
      ...["huggingface", "mistral", "moonshot", "openrouter", "perplexity", "sambanova", "xai"],
    ].map((name) => [name, name]),
  ),
  cohere_chat: "cohere",
  fireworks_ai: "fireworks",
  together_ai: "togetherai",
  nvidia_nim: "nvidia",
  hosted_vllm: "vllm",
  lm_studio: "lmstudio",
  litellm_proxy: "litellm",
  ollama: "ollama",
  ollama_chat: "ollama",
};

/** Addresses of servers that LiteLLM expects on the same machine. */
const LOCAL: Readonly<Record<string, string>> = {
  ollama: "http://localhost:11434/v1",
  lmstudio: "http://localhost:1234/v1",
};

/** Fields that LiteLLM adds to requests that lack them. */
const DEFAULTS = [
  ...["temperature", "top_p", "max_tokens", "max_completion_tokens", "n", "seed", "stop", "user"],
  ...["presence_penalty", "frequency_penalty", "response_format", "reasoning_effort", "logit_bias"],
];

function modelOf(entry: Fields, index: number, source: SourceFields): ImportedModel | string {
  const at: ConfigPath = ["model_list", index];
  const params = fieldsOf(entry.litellm_params);
  const line = source.line(...at);
  const [name, model] = [entry.model_name, params.model];
  if (typeof name !== "string" || typeof model !== "string")
    return `line ${line}: skipped a model without model_name or litellm_params.model`;
  const place = providerOf(model, params);
  if (place === undefined)
    return `line ${line}: skipped "${name}": gwc has no provider for "${model}"`;
  const notes: string[] = [];
  const take = (field: string) => source.take(...at, "litellm_params", field);
  const text = (field: string): string | undefined => {
    const value = params[field];
    if (typeof value !== "string" && typeof value !== "number") return undefined;
    take(field);
    return fromEnvironment(String(value));
  };
  source.take(...at, "model_name");
  take("model");
  take("custom_llm_provider");
  const isAny = place.model.includes("*");
  if (isAny && name !== "*" && name !== place.model)
    notes.push(
      `line ${line}: the provider gets the model name as clients send it ("${name}"); LiteLLM removes the part before the slash`,
    );
  const own: Record<string, unknown> = isAny ? {} : { model: place.model };
  const key = params.api_key;
  if (typeof key === "string") {
    take("api_key");
    own.apiKey = fromEnvironment(key);
    if (own.apiKey === key) {
      own.apiKey = `\${${variableName(name)}}`;
      notes.push(
        `line ${source.line(...at, "litellm_params", "api_key")} has a literal key: put it into the variable ${variableName(name)}`,
      );
    }
  }
  const given = text("api_base") ?? text("base_url");
  const base = given === undefined ? place.base : withoutUser(given);
  if (given !== undefined && hasUser(given))
    notes.push(
      `line ${line}: the user and password of the server's URL were removed: add them to requestHeaders as \${NAME}`,
    );
  Object.assign(own, placeParams(place.provider, base, text, notes, line));
  const defaults = Object.fromEntries(
    DEFAULTS.filter((field) => params[field] !== undefined).map((field) => {
      take(field);
      return [field, params[field]];
    }),
  );
  const headers = extraHeaders(name, params, at, source, notes);
  const organization = text("organization");
  if (organization !== undefined) headers["openai-organization"] = organization;
  const found = {
    name,
    provider: place.provider,
    params: Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined)),
    ...(Object.keys(defaults).length > 0 && { defaults }),
    ...(Object.keys(headers).length > 0 && { requestHeaders: { set: headers } }),
  };
  return { model: found, notes };
}

/** Returns the provider-specific location of a model. `text` reads a field of the model and marks it as converted. */
function placeParams(
  provider: string,
  base: string | undefined,
  text: (field: string) => string | undefined,
  notes: string[],
  line: number,
): Record<string, unknown> {
  const own: Record<string, unknown> = {};
  switch (provider) {
    case "azure":
      // The host decides which API of Azure is called, so it must be known.
      own.azureHost = base?.includes("${") === true ? undefined : hostOf(base);
      own.azureApiVersion = text("api_version");
      if (own.azureHost === undefined)
        notes.push(`line ${line}: set "azureHost" to the host of ${base ?? "AZURE_API_BASE"}`);
      own.azureHost ??= "RESOURCE.openai.azure.com";
      break;
    case "vertex":
      own.vertexProject = text("vertex_project");
      own.vertexRegion = text("vertex_location");
      if (own.vertexProject === undefined)
        notes.push(`line ${line}: set "vertexProject" to the value of DEFAULT_VERTEXAI_PROJECT`);
      own.vertexProject ??= "PROJECT";
      break;
    case "bedrock":
      own.awsRegion = text("aws_region_name");
      break;
    default:
      Object.assign(own, serverOf(base, provider, notes, line));
  }
  return own;
}

function hostOf(base: string | undefined): string | undefined {
  return base?.replace(/^https?:\/\//, "").replace(/\/.*$/, "");
}

/** Converts `extra_headers`; literal credentials become variables. */
function extraHeaders(
  name: string,
  params: Fields,
  at: ConfigPath,
  source: SourceFields,
  notes: string[],
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [header, value] of Object.entries(fieldsOf(params.extra_headers))) {
    source.take(...at, "litellm_params", "extra_headers", header);
    headers[header] = fromEnvironment(String(value));
    if (headers[header] !== value || !/authorization|cookie|key|token|secret/i.test(header))
      continue;
    const variable = variableName(`${name} ${header}`);
    headers[header] = `\${${variable}}`;
    const where = source.line(...at, "litellm_params", "extra_headers", header);
    notes.push(`line ${where} has a literal credential: put it into the variable ${variable}`);
  }
  return headers;
}

/** Determines the provider, model and base URL of a LiteLLM model name. */
function providerOf(
  model: string,
  params: Fields,
):
  | { readonly provider: string; readonly model: string; readonly base?: string | undefined }
  | undefined {
  const custom =
    typeof params.custom_llm_provider === "string" ? params.custom_llm_provider : undefined;
  const [, prefix = custom, rest = model] = /^([a-z_]+)\/(.+)$/.exec(model) ?? [];
  if (prefix === undefined) {
    if (/^(gpt-|chatgpt|o\d|text-embedding|dall-e|whisper|tts)/.test(model))
      return { provider: "openai", model };
    if (model.startsWith("claude")) return { provider: "anthropic", model };
    return undefined;
  }
  const provider = PROVIDERS[prefix];
  if (provider !== undefined)
    return { provider, model: rest.replace(/^(converse|responses)\//, "") };
  const compatible = COMPATIBLE[prefix];
  return compatible === undefined
    ? undefined
    : { provider: compatible, model: rest, base: LOCAL[compatible] };
}

/** Converts a base URL. For OpenAI's API, LiteLLM and gwc both give the folder; for others, gwc gives the server. */
function serverOf(
  base: string | undefined,
  provider: string,
  notes: string[],
  line: number,
): { readonly hostOverride?: string; readonly baseUrl?: string } {
  if (provider !== "anthropic" && provider !== "gemini") {
    if (base === undefined && (provider === "vllm" || provider === "litellm")) {
      notes.push(`line ${line}: set "baseUrl" to the address of the server`);
      return { baseUrl: "http://localhost:8000/v1" };
    }
    // LiteLLM calls Ollama's own API at this address, gwc the one that is like OpenAI's.
    const isOllama = provider === "ollama" && base !== undefined && !/\/v1\/*$/.test(base);
    return base === undefined
      ? {}
      : { baseUrl: isOllama ? `${base.replace(/\/+$/, "")}/v1` : base };
  }
  const [, server] = /^(https?:\/\/[^/]+)(\/.*?)?\/*$/.exec(base ?? "") ?? [];
  if (server !== undefined) return { hostOverride: server };
  if (base !== undefined)
    notes.push(`line ${line}: "hostOverride" must be a URL; the server is ${base}`);
  return base === undefined ? {} : { hostOverride: base };
}

/** Returns the models for further names: `router_settings.model_group_alias`. */
function aliasesOf(
  models: readonly (ImportedModel | string)[],
  source: SourceFields,
): readonly ImportedModel[] {
  const { router_settings: router } = fieldsOf(source.value);
  return Object.entries(fieldsOf(fieldsOf(router).model_group_alias)).flatMap(([alias, target]) => {
    const { model: named = target } = fieldsOf(target);
    const found = models.filter((each) => typeof each !== "string" && each.model.name === named);
    if (found.length === 0) return [];
    const at = ["router_settings", "model_group_alias", alias];
    source.take(...at, ...(named === target ? [] : ["model"]));
    return found.flatMap((each) =>
      typeof each === "string" ? [] : [{ model: { ...each.model, name: alias }, notes: [] }],
    );
  });
}

function variableName(model: string): string {
  return `${model
    .toUpperCase()
    .replace(/\W+/g, "_")
    .replace(/^(?=\d)|^_+/, "MODEL_")
    .replace(/_+$/, "")}_API_KEY`;
}

function fieldsOf(value: unknown): Fields {
  return isJsonObject(value) ? { ...value } : {};
}
