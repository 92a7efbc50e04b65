import { isDeepStrictEqual } from "node:util";
import type { RouteType } from "../model/llm-policies.ts";
import { HTTP_SERVER } from "../model/traffic.ts";
import type { AiConfig } from "./ai/ai-config.ts";
import { type AiValue, aiSchema, lowerAi } from "./ai/file-form.ts";
import type { PromptGuardNode } from "./ai/guards.ts";
import { restText } from "./ai/health.ts";
import { type KubernetesAiValue, kubernetesAi } from "./ai/manifest-form.ts";
import { type AiNode, resolveAi, resolveRoutes } from "./ai/resolve.ts";
import type { Backend } from "./backend.ts";
import { curlCommand, type TryRequest } from "./parts/try-request.ts";

/** Models of providers, which speak formats of their own. */
export const ai: Backend<"ai", AiValue, AiConfig, AiNode, never, KubernetesAiValue> = {
  kind: "ai",
  summary: "serves models of providers, each in its own format",
  schema: aiSchema,
  isNameable: true,
  lower: lowerAi,
  kubernetes: kubernetesAi,
  protocol: "llm",
  carries: ({ groups }) =>
    groups.flat().map(({ policies: own }) => ({ traffic: ["llm", ...HTTP_SERVER], own })),
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
    ...["tokenCountModels"],
  ],
  resolve: resolveAi,
  spendsTokens: ({ policies }) => resolveRoutes(policies?.ai).some(({ type }) => counted.has(type)),
  passesToken: ({ groups }) => groups.flat().some(({ connection }) => connection.isPassthrough),
  describe: ({ groups }) =>
    groups.flatMap((group, index) =>
      group.map(({ name, model, url, health }) => {
        const place = groups.length === 1 ? "" : `group ${index + 1}: `;
        return {
          label: `${place}${name}${model === undefined ? "" : ` (${model})`}`,
          address: url,
          ...(health && { server: name, rest: restText(health) }),
        };
      }),
    ),
  promptGuards: ({ groups }) => {
    const found: PromptGuardNode[] = [];
    for (const { guard } of groups.flat()) {
      if (guard === undefined || found.some((each) => isDeepStrictEqual(each, guard))) continue;
      found.push(guard);
    }
    return found;
  },
  tryCommand,
};

/** What passes as it came is not looked into, and the others use nothing. */
const counted: ReadonlySet<RouteType> = new Set([
  ...["Completions", "Messages", "Responses"],
  ...["Embeddings", "Realtime"],
] as const);

function tryCommand(request: TryRequest): string {
  const { kind, value } = request.path;
  const path = { kind, value: value === "/" ? "/v1/chat/completions" : value };
  const headers = [...request.headers, "content-type: application/json"];
  return curlCommand({ ...request, path, method: undefined, headers }, ["-d", `'${HELLO}'`]);
}

const HELLO = '{"model":"MODEL","messages":[{"role":"user","content":"Hello"}]}';
