import { childOf, keyPlace, type Origin } from "../../diagnostics/diagnostic.ts";
import type { CompiledExpression } from "../../model/expressions.ts";
import type { ResponseCacheConfig, RouteType } from "../../model/llm-policies.ts";
import { parseTimer } from "../../schema/duration.ts";
import {
  boolean,
  byteCount,
  duration,
  expression,
  type Infer,
  object,
} from "../../schema/schema.ts";
import type { BackendResolveContext } from "../parts/backend-resolve-context.ts";
import { type IdentityContext, resolveOfRequest } from "../parts/known-identities.ts";
import type { GuardContext } from "./guard-manifest-form.ts";
import {
  fileSemantic,
  lowerSemantic,
  manifestSemantic,
  readSemantic,
  resolveSemantic,
  type SimilarRequestsNode,
} from "./similar-requests.ts";

/** Cache of responses of models, complete. */
export interface ResponseCacheNode {
  /** Milliseconds after which a response is not used any more. */
  readonly ttl: number;
  /** Maximum size of all responses, in bytes. */
  readonly maxBytes: number;
  /** Callers with the same value share responses; `undefined` if nobody shares them. */
  readonly scope: CompiledExpression | undefined;
  /** Pool of the responses in the store that replicas share, empty until the whole route is known; `undefined` if they share none. */
  readonly pool: string | undefined;
  /** Search for similar requests; `undefined` if only equal requests get a cached response. */
  readonly similar: SimilarRequestsNode | undefined;
  readonly origin: Origin;
}

/** Default of `maxBytes`. */
const MAX_BYTES = 64 * 1024 * 1024;

const fields = {
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
  shared: boolean(
    "Whether replicas and threads also get each other's responses, from the store that they share. The store holds at most `maxBytes` of them for each configuration of the route.",
    { default: false },
  ),
};

const rest = {
  required: ["ttl"],
  description:
    "Cache of complete responses to equal requests: chat completions, messages, responses, Google's contents, Bedrock's conversations and embeddings.",
  examples: [{ ttl: "10m" }, { ttl: "1h", key: "apiKey.team", shared: true }],
} as const;

/** Schemas of `cache`. */
export const responseCacheSchema = {
  file: object({ ...fields, semantic: fileSemantic }, rest),
  manifest: object({ ...fields, semantic: manifestSemantic }, rest),
};

/** Reads a cache of a file. */
export function lowerResponseCache(
  { semantic, ...given }: Infer<(typeof responseCacheSchema)["file"]>,
  origin: Origin,
): ResponseCacheConfig {
  const own = semantic && lowerSemantic(semantic, childOf(origin, "semantic"));
  return { ...commonOf(given, origin), semantic: own };
}

/** Reads a cache of a manifest. */
export function readResponseCache(
  { semantic, ...given }: Infer<(typeof responseCacheSchema)["manifest"]>,
  context: GuardContext,
): ResponseCacheConfig {
  const at = { ...context, origin: childOf(context.origin, "semantic") };
  return { ...commonOf(given, context.origin), semantic: semantic && readSemantic(semantic, at) };
}

/** Fills in the defaults of a cache. */
function commonOf(
  {
    ttl,
    maxBytes = MAX_BYTES,
    key,
    shared = false,
  }: Pick<Infer<(typeof responseCacheSchema)["file"]>, keyof typeof fields>,
  origin: Origin,
): Omit<ResponseCacheConfig, "semantic"> {
  return {
    ttl: parseTimer(ttl) ?? 0,
    maxBytes,
    key: key === undefined ? undefined : { text: key, origin: childOf(origin, "key") },
    shared: shared ? childOf(origin, "shared") : undefined,
  };
}

/** Route types whose requests have texts of users. */
const COMPLETIONS: readonly RouteType[] = [
  ...(["Completions", "Messages", "Responses", "GenerateContent", "Converse"] as const),
];

/** Route types whose responses are cached. */
const CACHED: readonly RouteType[] = [...COMPLETIONS, "Embeddings"];

/** Resolves a cache; returns `undefined` if its expression is invalid (reported). */
export function resolveResponseCache(
  { value: { ttl, maxBytes, key, shared, semantic }, origin }: ConfiguredCache,
  types: ReadonlySet<RouteType>,
  context: BackendResolveContext,
): ResponseCacheNode | undefined {
  if (!CACHED.some((type) => types.has(type))) {
    const params = { field: "cache", actsOn: "requests to models", found: [...types].join(", ") };
    context.diagnostics.report("misplaced-field", keyPlace(origin), params);
  }
  if (shared !== undefined && context.sharedStore === "none")
    context.diagnostics.report("cache-without-store", keyPlace(shared), {});
  if (semantic !== undefined && !COMPLETIONS.some((type) => types.has(type))) {
    const params = { field: "semantic", actsOn: "completions", found: [...types].join(", ") };
    context.diagnostics.report("misplaced-field", keyPlace(semantic.origin), params);
  }
  const similar = semantic && resolveSemantic(semantic, context);
  if (semantic !== undefined && similar === undefined) return undefined;
  const node = { ttl, maxBytes, pool: shared === undefined ? undefined : "", similar, origin };
  if (key === undefined) {
    if (!hasCaller(context)) context.diagnostics.report("cache-without-caller", origin, {});
    return { ...node, scope: undefined };
  }
  const scope = resolveOfRequest(key, { phase: "llm", slot: "value" }, context);
  return scope && { ...node, scope };
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
