import { childOf, type Origin } from "../diagnostics/diagnostic.ts";
import type { BackendPolicies } from "../model/backend-policies.ts";
import {
  type RouteType,
  SHARED_FIELDS,
  SINGLE_TYPES,
  STORED_TYPES,
} from "../model/llm-policies.ts";
import { NAMED_SERVER, type Section } from "../model/traffic.ts";
import type { AiConfig } from "./ai/ai-config.ts";
import type { AiNode, AiProviderNode } from "./ai/ai-node.ts";
import { type AiValue, aiSchema, lowerAi } from "./ai/file-form.ts";
import { canReadTexts, hookedGuard } from "./ai/guards.ts";
import { type KubernetesAiValue, kubernetesAi } from "./ai/manifest-form.ts";
import { resolveAi, resolveRoutes } from "./ai/resolve.ts";
import { ruledModels } from "./ai/ruled-models.ts";
import { virtualModelText } from "./ai/virtual-models.ts";
import type { Backend } from "./backend.ts";
import { restText } from "./parts/health.ts";
import { curlCommand, type TryRequest } from "./parts/try-request.ts";

/** Backend for LLM providers, each with its own API format. */
export const ai: Backend<"ai", AiValue, AiConfig, AiNode, never, KubernetesAiValue> = {
  kind: "ai",
  summary: "calls LLM providers, each in its own API format",
  schema: aiSchema,
  isNameable: true,
  lower: lowerAi,
  withServerPolicies,
  kubernetes: kubernetesAi,
  protocol: "llm",
  carries: ({ config: { groups, models }, policies }) => {
    const types = resolveRoutes(policies?.ai).map(({ type }) => type);
    const isCalled = types.some((type) => CALLED.has(type));
    const traffic = [
      "llm",
      isCalled ? "llmCalls" : "llmOthers",
      ...(types.includes("Passthrough") ? ["passedCalls" as const] : []),
      ...NAMED_SERVER,
    ] as const;
    return groups.flat().map(({ policies: own, tokenize }) => {
      const section = tokenize && tokenizeSection(tokenize, models !== undefined);
      return { traffic, own, sections: section === undefined ? [] : [section] };
    });
  },
  names: [
    ...[
      "providers",
      "promptGuard",
      "modelFor",
      "isUnhealthy",
      "prepareCompletion",
      "prepareMessage",
    ],
    ...["prepareResponse", "prepareEmbedding", "prepareCount", "completionsService"],
    ...["messagesService", "responsesService", "embeddingsService", "tokenCountService"],
    ...["modelList", "realtimeService", "passthroughService", "completionsTargets"],
    ...["messagesTargets", "responsesTargets", "embeddingsTargets", "tokenCountTargets"],
    ...["completionsModels", "messagesModels", "responsesModels", "embeddingsModels"],
    ...["responseCache", "cacheScope", "furtherResponses"],
    ...["tokenCountModels", "passthroughModels", "passthroughTargets", "prepareContent"],
    ...["prepareContentCount", "generateContentService", "generateContentModels"],
    ...["generateContentTargets", "contentTokenCountService", "contentTokenCountModels"],
    ...["contentTokenCountTargets", "prepareConverse", "converseService", "converseModels"],
    ...["converseTargets", "prepareSpeech", "prepareTranscription", "prepareTranslation"],
    ...["prepareImage", "prepareImageEdit", "prepareImageVariation", "prepareRerank"],
    ...["filesService", "messageFilesService", "batchesService", "messageBatchesService"],
    "containersService",
    ...["prepareModeration", ...["Service", "Models", "Targets"].flatMap(mediaNames)],
  ],
  resolve: resolveAi,
  spendsTokens: ({ policies }) => resolveRoutes(policies?.ai).some(({ type }) => COUNTED.has(type)),
  modelNames: ({ models, internal = [], virtualModels = [] }) =>
    models && [
      ...models.filter((name) => !internal.includes(name)),
      ...virtualModels.map(({ name }) => name),
    ],
  partialRules: ({ conditions }) =>
    conditions.flatMap((each) =>
      each === undefined || each.rules.length === 0
        ? []
        : [{ rules: each.rules, origin: each.rulesAt.origin }],
    ),
  ruledModels,
  passesToken: ({ groups }) => groups.flat().some(({ connection }) => connection.isPassthrough),
  describe: ({ groups, served, virtualModels }) => [
    ...groups.flatMap((group, index) =>
      group.flatMap(({ name, model, url, health, picking }) => {
        const place = groups.length === 1 || served !== undefined ? "" : `group ${index + 1}: `;
        const label = `${place}${name}${model === undefined ? "" : ` (${model})`}`;
        const rest = health && { server: name, rest: restText(health) };
        const picker = picking && { label: `picker of ${name}`, address: picking.picker.url };
        return [{ label, address: url, ...rest }, ...(picker ? [picker] : [])];
      }),
    ),
    ...virtualModels.map((each) => ({ label: virtualModelText(each) })),
  ],
  promptGuards: {
    of: ({ groups }) => groups.flat(),
    without: (node) => ({
      ...node,
      groups: node.groups.map((group) => group.map((each) => ({ ...each, guard: undefined }))),
    }),
    withHooks: (node, hooks, diagnostics) => {
      const types = new Set(node.routes.map(({ type }) => type));
      if (!canReadTexts(hooks, types, diagnostics)) return undefined;
      const hooked = (each: AiProviderNode) => ({
        ...each,
        guard: hookedGuard(each.guard, hooks),
      });
      return { ...node, groups: node.groups.map((group) => group.map(hooked)) };
    },
  },
  sharedCaches: ({ groups }) =>
    groups.flat().flatMap(({ cache }) => {
      if (cache?.scope === undefined) return [];
      const isSimilar = cache.similar !== undefined;
      return [{ key: cache.scope.source, isSimilar, origin: childOf(cache.origin, "key") }];
    }),
  responsePools: {
    areUsed: ({ groups }) => groups.flat().some(({ cache }) => cache?.pool !== undefined),
    named: (node, pool) => {
      const named = (each: AiProviderNode) =>
        each.cache?.pool === undefined ? each : { ...each, cache: { ...each.cache, pool } };
      return { ...node, groups: node.groups.map((group) => group.map(named)) };
    },
  },
  tryCommand,
};

/** Returns the names of constants for the APIs of media, rankings and moderations. */
function mediaNames(end: string): readonly string[] {
  return [
    ...["speech", "transcriptions", "translations", "images", "imageEdits", "imageVariations"],
    ...["rerank", "moderations"],
  ].map((start) => start + end);
}

/** Adds the fields of a single provider that all providers of a route share. */
function withServerPolicies(
  policies: BackendPolicies | undefined,
  { groups }: AiConfig,
): BackendPolicies | undefined {
  const [only, ...others] = groups.flat();
  const own = only?.policies?.ai;
  if (own === undefined || others.length > 0) return policies;
  const shared = SHARED_FIELDS.filter((field) => own[field] !== undefined);
  if (shared.length === 0) return policies;
  const added = Object.fromEntries(shared.map((field) => [field, own[field]]));
  return { ...policies, ai: { origin: own.origin, ...policies?.ai, ...added } };
}

function tokenizeSection(origin: Origin, isOptional: boolean): Section {
  return { name: "tokenize", actsOn: ["tokenLimits"], origin, isOptional };
}

/**
 * Route types that call a provider and get a complete response. Realtime sessions stay open, and the gateway lists
 * models itself.
 */
const CALLED: ReadonlySet<RouteType> = new Set([
  ...["Completions", "Messages", "Responses", "GenerateContent", "Converse"],
  ...["Embeddings", "TokenCount", "ContentTokenCount", "Passthrough"],
  ...SINGLE_TYPES,
  ...STORED_TYPES,
] as const);

/** Route types whose token usage is counted. `Passthrough` is not parsed, and the others use no tokens. */
const COUNTED: ReadonlySet<RouteType> = new Set([
  ...["Completions", "Messages", "Responses", "GenerateContent", "Converse"],
  ...["Embeddings", "Realtime"],
  ...SINGLE_TYPES,
  ...["Files", "MessageBatches"],
] as const);

/** Returns a chat request in the first chat format that the route has, with a known model if there is one. */
function tryCommand(request: TryRequest, { routes, models }: AiNode): string {
  const chat = chatCalls.flatMap(({ type, ...asked }) =>
    routes.flatMap((route) => (route.type === type ? [{ ...route, ...asked }] : [])),
  );
  const [{ suffix, end, body, headers: own } = { suffix: "", ...chatCalls[0] }] = chat;
  const headers = [...request.headers, "content-type: application/json", ...own];
  const path = { kind: "exact", value: pathOf(request.path, suffix, end) } as const;
  const data = JSON.stringify({ model: models[0]?.id ?? "MODEL", ...body });
  return curlCommand({ ...request, path, method: undefined, headers }, [
    "-d",
    `'${data.replaceAll("'", "'\\''")}'`,
  ]);
}

const HELLO = [{ role: "user", content: "Hello" }];

/** Example requests of each chat format, and the API path that they are sent to. */
const chatCalls = [
  { type: "Completions", end: "/chat/completions", body: { messages: HELLO }, headers: [] },
  { type: "Responses", end: "/responses", body: { input: "Hello" }, headers: [] },
  {
    type: "Messages",
    end: "/messages",
    body: { max_tokens: 256, messages: HELLO },
    headers: ["anthropic-version: 2023-06-01"],
  },
] as const;

/**
 * Returns a path that the route matches and that ends in `suffix`; an empty suffix matches any path, so the API's
 * own path is used.
 */
function pathOf({ kind, value }: TryRequest["path"], suffix: string, end: string): string {
  if (kind === "exact") return value;
  const prefix = value.replace(/\/$/, "");
  if (suffix.startsWith(`${prefix}/`)) return suffix;
  if (suffix !== "") return prefix + suffix;
  return prefix.endsWith("/v1") ? prefix + end : `${prefix}/v1${end}`;
}
