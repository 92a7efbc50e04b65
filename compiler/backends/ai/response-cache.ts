import { childOf, keyPlace, type Origin } from "../../diagnostics/diagnostic.ts";
import type { CompiledExpression } from "../../model/expressions.ts";
import type { ResponseCacheConfig, RouteType } from "../../model/llm-policies.ts";
import { parseTimer } from "../../schema/duration.ts";
import { byteCount, duration, expression, type Infer, object } from "../../schema/schema.ts";
import { type IdentityContext, resolveOfRequest } from "../parts/known-identities.ts";

/** Cache of responses of models, complete. */
export interface ResponseCacheNode {
  /** Milliseconds after which a response is not used any more. */
  readonly ttl: number;
  /** Maximum size of all responses, in bytes. */
  readonly maxBytes: number;
  /** Callers with the same value share responses; `undefined` if nobody shares them. */
  readonly scope: CompiledExpression | undefined;
  readonly origin: Origin;
}

/** Default of `maxBytes`. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Schema of `cache`. */
export const responseCacheSchema = object(
  {
    ttl: duration("Time for which a response is used again.", { minimumDuration: "1s" }),
    maxBytes: byteCount(
      "Maximum size of all cached responses of the route, which are in memory. The responses that were not used for the longest time make room.",
      1_048_576,
      Number.MAX_SAFE_INTEGER,
      { default: MAX_BYTES },
    ),
    key: expression(
      "CEL expression for who shares responses: callers with the same value get each other's responses. By default each caller has its own. If it fails or is null, nothing is cached.",
    ),
  },
  {
    required: ["ttl"],
    description:
      "Cache of complete responses to equal requests: chat completions, messages, responses, Google's contents, Bedrock's conversations and embeddings.",
    examples: [{ ttl: "10m" }, { ttl: "1h", key: "apiKey.team" }],
  },
);

/** Fills in the defaults of a cache. */
export function readResponseCache(
  { ttl, maxBytes = MAX_BYTES, key }: Infer<typeof responseCacheSchema>,
  origin: Origin,
): ResponseCacheConfig {
  return {
    ttl: parseTimer(ttl) ?? 0,
    maxBytes,
    key: key === undefined ? undefined : { text: key, origin: childOf(origin, "key") },
  };
}

/** Route types whose responses are cached. */
const CACHED: readonly RouteType[] = [
  ...(["Completions", "Messages", "Responses", "GenerateContent"] as const),
  ...(["Converse", "Embeddings"] as const),
];

/** Resolves a cache; returns `undefined` if its expression is invalid (reported). */
export function resolveResponseCache(
  { value: { ttl, maxBytes, key }, origin }: ConfiguredCache,
  types: ReadonlySet<RouteType>,
  context: IdentityContext,
): ResponseCacheNode | undefined {
  if (!CACHED.some((type) => types.has(type))) {
    const params = { field: "cache", actsOn: "requests to models", found: [...types].join(", ") };
    context.diagnostics.report("misplaced-field", keyPlace(origin), params);
  }
  if (key === undefined) {
    if (!hasCaller(context)) context.diagnostics.report("cache-without-caller", origin, {});
    return { ttl, maxBytes, scope: undefined, origin };
  }
  const scope = resolveOfRequest(key, { phase: "llm", slot: "value" }, context);
  return scope && { ttl, maxBytes, scope, origin };
}

interface ConfiguredCache {
  readonly value: ResponseCacheConfig;
  readonly origin: Origin;
}

/** Whether a policy of the route can tell callers apart. */
export function hasCaller({ identities, route }: IdentityContext): boolean {
  const present = [...route.policies, ...route.preRouting];
  return CALLERS.some((variable) =>
    identities.get(variable)?.some((kind) => present.includes(kind)),
  );
}

/** Variables of identities that the gateway verifies itself. */
const CALLERS: readonly string[] = ["jwt", "apiKey", "basicAuth"];
