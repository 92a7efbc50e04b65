import { message } from "./message.ts";

/** Diagnostics about the store of state that outlives a process. */
export const storeMessages = {
  "idle-store": message<Record<never, never>>({
    severity: "warning",
    text: () => "nothing uses this store",
    hint: () =>
      "remove it, or use it: for limits (localRateLimit), API keys that are made at run time (apiKey: { store: true }), cached responses (cache: { shared: true }), or MCP servers",
    explanation:
      "A store holds what replicas share: limits, the API keys that `gwc keys create` makes, connections of users, and responses. " +
      "Through it, they also pass on messages of MCP sessions. The client for it is only part of a bundle if something uses the store.",
  }),
  "idle-usage": message<Record<never, never>>({
    severity: "warning",
    text: () => "no route calls models, so there is no usage to store",
    hint: () => "remove it, or add models: llm: { models: [...] }",
    explanation:
      "`config.usage` adds up requests, tokens and costs of models. Other requests have none.",
  }),
  "usage-attribute": message<{ readonly name: string }>({
    severity: "error",
    text: ({ name }) => `"${name}" is not known when usage is counted`,
    hint: () =>
      "use what is known of the caller or the request: apiKey.team, jwt.org, request.headers",
    explanation:
      "Usage is counted when a call of a model ends: the response to the client may still be on its way, and bodies are not " +
      "captured for it.",
  }),
  "idle-keys-api": message<Record<never, never>>({
    severity: "error",
    text: () => "no route accepts keys of the store",
    hint: () => "remove it, or accept them: apiKey: { store: true }",
    explanation: "`config.keysApi` makes keys that `apiKey: { store: true }` accepts.",
  }),
  "keys-api-rule": message<{ variable: string }>({
    severity: "error",
    text: ({ variable }) =>
      `"${variable}" is not known when a request to the API for keys is decided on`,
    hint: () =>
      "use the claims of its token, and the method, path and headers of its request: jwt.sub, request.method",
    explanation:
      "The API for keys has its own port without routes and policies. Its clients are identified by a key or by a token, and its " +
      "rule is evaluated before a body is read.",
  }),
  "keys-api-port": message<{ port: number }>({
    severity: "error",
    text: ({ port }) => `the port ${port} has listeners, and the API for keys needs its own`,
    hint: () => "set another port",
    explanation:
      "Clients of the API may make keys with any rights. A port of its own keeps it out of the reach of the gateway's clients, " +
      "and it listens on loopback unless `address` says otherwise.",
  }),
  "store-of-pods": message<Record<never, never>>({
    severity: "error",
    text: () =>
      "what is stored here would end with each pod: the gateway has no store that pods share",
    hint: () =>
      "add a Redis or Valkey server to the GatewayParameters: store: { redis: { secretRef: { name: redis } } }",
    explanation:
      "Without `store`, keys made at run time, connections of users and usage are in a file of the process. Each pod has its own " +
      "files, which it loses when it ends, and `gwc keys` cannot reach them.",
  }),
  "limit-without-store": message<{ field: string }>({
    severity: "error",
    text: ({ field }) =>
      `"${field}" requires a store that replicas share, and this gateway has none`,
    hint: () =>
      'configure one: config: { store: { redis: { url: "${REDIS_URL}" } } }, or store: { redis: { secretRef: { name: redis } } } in GatewayParameters',
    explanation:
      "Replicas count a limit together in Redis or Valkey. Without it, each process counts for itself, and there is no store " +
      "that could fail.",
  }),
  "limit-of-each-pod": message<{ count: number | undefined }>({
    severity: "warning",
    text: ({ count }) =>
      `${count === undefined ? "the pod of each node" : `each of up to ${count} pods`} counts this limit for itself`,
    hint: () =>
      "add a store to the GatewayParameters, so that pods count together: store: { redis: { secretRef: { name: redis } } }; or write consistency: Local",
    explanation:
      "Without a store, n pods admit up to n times the limit, and an autoscaler changes n. With `store`, all pods count together. " +
      "`consistency: Local` states that each pod has this limit for itself, for example to protect its own memory.",
  }),
  "cluster-with-sentinel": message<Record<never, never>>({
    severity: "error",
    text: () => '"sentinel" cannot be used with "cluster: true"',
    hint: () => "remove one of them: a Redis Cluster replaces failed primaries itself",
    explanation:
      "Sentinels watch the primary of a single database. The nodes of a Redis Cluster watch each other, and clients " +
      "ask any node which one is responsible for a key.",
  }),
  "cluster-database": message<Record<never, never>>({
    severity: "error",
    text: () => "a Redis Cluster has only the database 0",
    hint: () => "remove the path of the URL, and use another prefix to keep gateways apart",
    explanation: "Numbered databases exist on single servers only.",
  }),
  "bad-store-url": message<Record<never, never>>({
    severity: "error",
    text: () => "this is not the URL of a Redis or Valkey server",
    hint: () =>
      'write url: "${REDIS_URL}", with redis://HOST:PORT or rediss://HOST:PORT in that variable',
    explanation:
      "The URL has the form `redis://USER:PASSWORD@HOST:PORT/DATABASE`; user, password, port and database are optional. " +
      "`rediss://` connects with TLS. Unix sockets are not supported.",
  }),
};
