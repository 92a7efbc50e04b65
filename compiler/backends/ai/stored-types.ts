import type { Origin } from "../../diagnostics/diagnostic.ts";
import { type RouteType, STORED_TYPES } from "../../model/llm-policies.ts";
import type { BackendResolveContext } from "../parts/backend-resolve-context.ts";
import type { AiNode, AiProviderNode } from "./ai-node.ts";
import { hasCaller } from "./response-cache.ts";

/** Types of requests that a batch may have, or that may name a file or a container, with the path that a batch names, by vendor. */
const BATCHED = {
  OpenAi: [
    { type: "Completions", path: "/v1/chat/completions" },
    { type: "Responses", path: "/v1/responses" },
    { type: "Embeddings", path: "/v1/embeddings" },
    { type: "Moderations", path: "/v1/moderations" },
    { type: "Images", path: "/v1/images/generations" },
  ],
  Messages: [{ type: "Messages", path: "/v1/messages" }],
  Containers: [{ type: "Responses", path: "/v1/responses" }],
} as const;

/** APIs of Anthropic. */
const ANTHROPIC: ReadonlySet<RouteType> = new Set(["MessageFiles", "MessageBatches"]);

/** Returns the types of requests that a batch of an API may have, or that may name its files, and their paths. */
function batchedTypes(
  type: RouteType,
  types: ReadonlySet<RouteType>,
): readonly { readonly type: RouteType; readonly path: string }[] {
  const ofOpenAi = type === "Containers" ? BATCHED.Containers : BATCHED.OpenAi;
  const all = ANTHROPIC.has(type) ? BATCHED.Messages : ofOpenAi;
  return all.filter((each) => types.has(each.type));
}

/** Returns the same for all APIs of batches that a route has. */
export function batchedByType(routes: AiNode["routes"]): AiNode["batched"] {
  const types = new Set(routes.map(({ type }) => type));
  return STORED_TYPES.filter((type) => types.has(type)).map((type) => ({
    type,
    requests: batchedTypes(type, types),
  }));
}

/** Whether responses that providers store belong to callers. */
export function ownsResponses(
  providers: readonly AiProviderNode[],
  context: BackendResolveContext,
): boolean {
  const isShared = providers.some(
    ({ endpoints, clientKey }) =>
      endpoints.Responses?.format === "responses" && clientKey === undefined,
  );
  return isShared && hasCaller(context);
}

/**
 * Reports APIs for stored objects whose owners would not be known, or whose requests the route does not serve. `passing`:
 * providers to which requests to other paths may pass unread.
 */
export function checkStoredTypes(
  routes: AiNode["routes"],
  providers: readonly AiProviderNode[],
  passing: readonly AiProviderNode[],
  origin: Origin,
  context: BackendResolveContext,
): void {
  const types = new Set(routes.map(({ type }) => type));
  for (const type of STORED_TYPES) {
    const stores = providers.filter(({ endpoints }) => endpoints[type] !== undefined);
    if (!types.has(type) || stores.length === 0) continue;
    const isShared = stores.some(({ clientKey }) => clientKey === undefined);
    if (isShared && !hasCaller(context)) {
      context.diagnostics.report("stored-without-caller", origin, { type });
      return;
    }
    const servers = new Set(passing.map(({ url }) => JSON.stringify(url)));
    const isPassed = stores.some(({ url }) => servers.has(JSON.stringify(url)));
    if (isShared && types.has("Passthrough") && isPassed) {
      context.diagnostics.report("stored-with-passthrough", origin, { type });
      return;
    }
    if (batchedTypes(type, types).length === 0)
      context.diagnostics.report("batches-without-requests", origin, { type });
  }
}
