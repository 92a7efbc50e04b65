import type { BackendNode } from "../../../compiler/ir/backends.ts";
import type { RouteType } from "../../../compiler/model/llm-policies.ts";
import { code, literal } from "../../code/code.ts";
import type { Code, ImportSymbol, Printable } from "../../code/hole.ts";
import { imported } from "../../code/names.ts";
import { call } from "../../code/syntax.ts";
import type { AiFunctions } from "./functions.ts";
import { modelNaming } from "./model-naming.ts";
import { providerReference } from "./providers.ts";
import { type AskedType, formatExport } from "./route-types.ts";

const CALLS = "gwc/runtime/llm/calls";

const DROP = imported(`${CALLS}/drop-unsupported`, "dropUnsupported");

/** Conditions of requests. */
const CONDITIONS = {
  reasonsWithTools: imported(`${CALLS}/reasons-with-tools`, "reasonsWithTools"),
  usesHostedTools: imported(`${CALLS}/uses-hosted-tools`, "usesHostedTools"),
};

type ProviderNode = BackendNode<"ai">["groups"][number][number];
type LlmEndpoint = NonNullable<ProviderNode["endpoints"][RouteType]>;
type LlmBranch = NonNullable<LlmEndpoint["branches"]>[number];

/** Writes a provider as the target of requests with a body that is read. */
export function targetCode(
  type: RouteType,
  asked: AskedType,
  node: ProviderNode,
  functions: AiFunctions,
): Code {
  const { branches, ...others } = endpointOf(type, node);
  const target = (endpoint: LlmEndpoint) => branchCode(endpoint, asked, node, functions);
  if (branches === undefined) return target(others);
  const choice = groupsOf(branches).map(({ cases, endpoint }) => ({
    cases: cases.map(({ models, when }) => ({
      models: code`new RegExp(${literal(models)})`,
      when: when && CONDITIONS[when],
    })),
    target: target(endpoint),
  }));
  return code`${call(imported(`${CALLS}/by-model`, "byModel"), [literal(choice), target(others)])}`;
}

/** Joins branches that follow each other and lead to the same endpoint. */
function groupsOf(branches: readonly LlmBranch[]): readonly BranchGroup[] {
  const groups: BranchGroup[] = [];
  for (const { models, when, ...endpoint } of branches) {
    const last = groups.at(-1);
    const one = { models, when };
    if (JSON.stringify(last?.endpoint) === JSON.stringify(endpoint)) last?.cases.push(one);
    else groups.push({ cases: [one], endpoint });
  }
  return groups;
}

interface BranchGroup {
  readonly cases: { readonly models: string; readonly when: LlmBranch["when"] | undefined }[];
  readonly endpoint: LlmEndpoint;
}

function branchCode(
  endpoint: LlmEndpoint,
  asked: AskedType,
  node: ProviderNode,
  functions: AiFunctions,
): Code {
  const { format, variant = format } = endpoint;
  const target = {
    ...endpointSettings(endpoint, node, functions),
    transform: functions.transform(asked, node),
    affinity: asked.operation === "chat" ? affinityCode(node) : undefined,
    prepare: functions.prepare(asked, node),
    finish: functions.finish(asked, node),
    ...(asked.isCached === true ? functions.cache(node) : {}),
  };
  if (format === "converse" && asked.native === "converse") {
    return code`${imported(`${CALLS}/converse-target`, "converseTarget")}(${literal(target)})`;
  }
  if (format === asked.native) {
    const settings = { ...target, format: nativeFormat(variant, format, node) };
    const made =
      asked.isForm === true
        ? imported("gwc/runtime/llm/forms/form-target", "formTarget")
        : imported(`${CALLS}/native-target`, "nativeTarget");
    return code`${made}(${literal(settings)})`;
  }
  if (format === "bedrockCount") {
    return code`${imported(`${CALLS}/bedrock-count-target`, "bedrockCountTarget")}(${literal(target)})`;
  }
  if (asked.translated === "embeddings") {
    const settings = { ...target, format: formatExport(format, "embeddings", "Embeddings") };
    return code`${imported(`${CALLS}/embeddings-target`, "embeddingsTarget")}(${literal(settings)})`;
  }
  if (asked.translated === "rerank" || asked.translated === "images") {
    const suffix = asked.translated === "rerank" ? "Rerank" : "Images";
    const settings = {
      ...target,
      client: formatExport(asked.native, "native", "Native"),
      format: formatExport(format, asked.translated, suffix),
    };
    return code`${imported(`${CALLS}/converted-target`, "convertedTarget")}(${literal(settings)})`;
  }
  const settings = {
    ...target,
    client: formatExport(asked.native, "client", "Client"),
    format: formatExport(variant, "upstream", "Upstream"),
    fitModel: functions.fitModel(node),
    drop: node.policies?.unsupported?.value === "drop" ? DROP : undefined,
    dialect: {
      provider: node.name,
      ...(format === "converse" && dialectSettings(node)),
      ...(format === "messages" && { caching: cachingSettings(node) }),
      maxTokensField: format === "completions" && !node.isOwnServer ? "max_tokens" : undefined,
    },
  };
  return code`${imported(`${CALLS}/translated-target`, "translatedTarget")}(${literal(settings)})`;
}

/** Writes the path of a route type at a provider, and the names of models there. */
export function targetSettings(
  type: RouteType,
  node: ProviderNode,
  functions: AiFunctions,
): Readonly<Record<string, Printable | undefined>> {
  return endpointSettings(endpointOf(type, node), node, functions);
}

function endpointSettings(
  { path, streamPath }: LlmEndpoint,
  node: ProviderNode,
  functions: AiFunctions,
): Readonly<Record<string, Printable | undefined>> {
  return {
    provider: providerReference(node),
    guard: functions.guard(node),
    path: pathCode(path, streamPath, node.model),
    modelFor: node.model === undefined ? modelForCode(node, functions) : undefined,
  };
}

/** Maps aliases first, then the names in the provider's paths. */
function modelForCode(node: ProviderNode, functions: AiFunctions): Printable | undefined {
  const aliased = functions.modelFor(node);
  const named = node.modelName && modelNaming(node.modelName);
  if (named === undefined || aliased === undefined) return named ?? aliased;
  return code`(model) => ${named}(${aliased}(model))`;
}

function endpointOf(type: RouteType, { endpoints, name }: ProviderNode) {
  const endpoint = endpoints[type];
  if (endpoint === undefined) throw new Error(`${name} does not serve ${type}`);
  return endpoint;
}

function dialectSettings({
  dialect: { guardrail, caching },
}: ProviderNode): Readonly<Record<string, Printable | undefined>> {
  return { guardrail: guardrail && { ...guardrail }, caching: caching && { ...caching } };
}

function cachingSettings({ dialect: { caching } }: ProviderNode): Printable | undefined {
  return caching && { ...caching };
}

/** Returns the format of requests that pass; those of the Messages API may get cache breakpoints. */
function nativeFormat(variant: string, format: string, node: ProviderNode): Printable {
  const native = formatExport(variant, "native", "Native");
  const caching = format === "messages" ? cachingSettings(node) : undefined;
  if (caching === undefined) return native;
  const cached = imported("gwc/runtime/llm/formats/messages/cached-native", "cachedMessages");
  return code`${call(cached, [native, literal(caching)])}`;
}

/** Returns the function that returns the key of requests for the same provider; `undefined` if there is none. */
export function affinityCode({ policies }: ProviderNode): ImportSymbol | undefined {
  const { affinity = "none" } = policies?.promptCaching?.value ?? {};
  if (affinity === "none") return undefined;
  return imported(`${CALLS}/affinity`, affinity === "prefix" ? "byPrefix" : "bySession");
}

/** Writes a path that contains the model. */
function pathCode(
  path: string,
  streamPath: string | undefined,
  model: string | undefined,
): Printable {
  const isKnown = !path.includes("{model}") || model !== undefined;
  const whole = model === undefined ? path : path.replace("{model}", encodeURIComponent(model));
  if (isKnown && streamPath === undefined) return whole;
  const args = streamPath === undefined ? [path] : [path, streamPath];
  return code`${call(
    imported(`${CALLS}/model-path`, "modelPath"),
    args.map((each) => literal(each)),
  )}`;
}
