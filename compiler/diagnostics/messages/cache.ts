import { message } from "./message.ts";

/** Diagnostics about cached responses of models. */
export const cacheMessages = {
  "cache-before-changes": message<Record<never, never>>({
    severity: "error",
    text: () => "cached responses would not depend on `finalTransformations`",
    hint: () => "write `transformations`, which change requests before the cache compares them",
    explanation:
      "The cache compares requests before they are translated. `finalTransformations` change them afterwards, and may " +
      "depend on the caller, so that callers could get responses to other requests.",
  }),
  "cache-without-caller": message<Record<never, never>>({
    severity: "warning",
    text: () => "no response is cached: no policy of this route identifies callers",
    hint: () => "authenticate callers with jwtAuth, apiKey or basicAuth, or set `key` of the cache",
    explanation:
      "Each caller has its own cached responses, so that nobody gets the response of somebody else. Requests without a " +
      "verified identity are not cached. `key` is a CEL expression: callers with the same value share responses, for " +
      "example `source.identity` for workloads, or a constant for all callers.",
  }),
  "cache-without-store": message<Record<never, never>>({
    severity: "error",
    text: () => "there is no store in which replicas could share responses",
    hint: () =>
      'configure one: config: { store: { redis: { url: "${REDIS_URL}" } } }, or store: { redis: { secretRef: { name: redis } } } in GatewayParameters',
    explanation:
      "`shared` makes replicas and threads use each other's cached responses, which are in Redis or Valkey. Without it, each " +
      "thread has its own.",
  }),
  "embeddings-without-key": message<Record<never, never>>({
    severity: "error",
    text: () =>
      "OpenAI's API for embeddings is called without a key and would refuse every request",
    hint: () => 'add the key: apiKey: "${OPENAI_API_KEY}"',
    explanation:
      "If no text gets a vector, no response is found by meaning. The provider's key is not reused because it may have " +
      "another owner. Another server (`host`) may not need a key.",
  }),
};
