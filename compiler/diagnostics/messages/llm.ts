import { didYouMean, message } from "./message.ts";

/** Diagnostics about AI backends. */
export const llmMessages = {
  "no-models": message<Record<never, never>>({
    severity: "warning",
    text: () => "there is no model here: every request is answered 404",
    hint: () => "add one to `models`: { name: gpt-5, provider: openAI }",
    explanation:
      "The list `models` is empty, as in a file whose models are added later. Requests are refused until it has one.",
  }),
  "unserved-route-type": message<{ type: string; provider: string }>({
    severity: "error",
    text: ({ type, provider }) => `"${provider}" cannot serve ${type} requests`,
    hint: () => "remove the path from `routes`, or the provider from this backend",
    explanation:
      "Each path in `routes` has one type of request, and every provider of the backend must support it, either in the " +
      "client's format or by translation. Unsupported pairs are reported at build time, so that clients never run into " +
      "them.",
  }),
  "unserved-api": message<{ api: string; model?: string }>({
    severity: "error",
    text: ({ api, model }) =>
      model === undefined
        ? `no model of this section has a provider with the API "${api}"`
        : `the provider of the model "${model}" does not have the API "${api}"`,
    hint: () => "remove it from `apis`, or add a model of a provider that has it",
    explanation:
      "An API in `apis` of the `llm` section serves the models whose providers have it, and one of a GatewayModel that model: OpenAI, Azure OpenAI, known " +
      "servers by their documentation, and `custom` servers that list it in `formats`.",
  }),
  "stored-without-caller": message<{ type: string }>({
    severity: "error",
    text: ({ type }) =>
      `${type} requests need a caller: the provider's key is shared, and no policy of the route tells callers apart`,
    hint: () => "add `apiKey`, `jwtAuth` or `basicAuth`, or remove the path",
    explanation:
      "A provider stores files and batches for the owner of the key, which is the gateway. The ids that callers get are " +
      "therefore sealed for one caller: a token's subject, an API key or a user. Without an identity, everybody could read " +
      "the requests and responses of everybody.",
  }),
  "stored-with-passthrough": message<{ type: string }>({
    severity: "error",
    text: ({ type }) =>
      `${type} requests and Passthrough requests share a route and the provider's key: unread paths reach the objects of all callers`,
    hint: () => "remove the passthrough, or give it a route and a key of its own",
    explanation:
      "Ids of files and batches are sealed for one caller. A request that passes unread can name the provider's own ids, or " +
      "ask the provider for a list of all of them, in any spelling of the path that the provider accepts.",
  }),
  "batches-without-requests": message<{ type: string }>({
    severity: "error",
    text: ({ type }) =>
      `${type} requests have no effect: the route serves no API that could use them`,
    hint: () => "add a path of completions, responses, embeddings, moderations, images or messages",
    explanation:
      "Each request in a batch is checked and changed as if it was sent alone, and files are named by other requests. A route " +
      "of batches or files therefore serves the API of these requests, too: `messages` for those of Anthropic, and one of " +
      "OpenAI's for others. Containers are named by `responses` only.",
  }),
  "routes-of-provider": message<{ name: string; field: string }>({
    severity: "error",
    text: ({ name, field }) =>
      `"${field}" applies to all providers of a route, but is set only on "${name}"`,
    hint: ({ field }) => `move \`${field}\` to the policies of the backend or of the route`,
    explanation:
      "The client's format is derived from the path before a provider is chosen, and the header with the provider's " +
      "name is set on every response or on none. Such fields apply to all providers of a route.",
  }),
  "foreign-model": message<{
    model: string;
    provider: string;
    prefixes: readonly string[];
    other: string | undefined;
  }>({
    severity: "warning",
    text: ({ model, provider }) => `"${model}" does not look like a model of ${provider}`,
    hint: ({ prefixes, other }) =>
      other === undefined
        ? `its model names begin with ${prefixes.join(", ")}; for another server with the same API, set \`hostOverride\` (\`host\` in manifests)`
        : `it looks like a model of ${other}`,
    explanation:
      "The model names of a provider have common prefixes. A name without one usually belongs to another provider, and " +
      "every request would fail. Models of compatible servers have their own names and are not checked.",
  }),
  "assumed-region": message<{ name: string; region: string }>({
    severity: "warning",
    text: ({ name, region }) => `"${name}" has no region: ${region} is used`,
    hint: () => "set `region` (`awsRegion` in the `params` of `llm`)",
    explanation:
      "Models, prices and quotas differ by region, and keys may be limited to one, so set the region explicitly. The " +
      "environment variables of the gateway's process do not change it.",
  }),
  "alias-of-alias": message<{
    alias: string;
    model: string;
    circle: readonly string[] | undefined;
  }>({
    severity: "warning",
    text: ({ alias, model, circle }) =>
      circle === undefined
        ? `"${alias}" is an alias of "${model}", which is an alias too`
        : `aliases form a circle: ${circle.join(" -> ")}`,
    hint: ({ circle }) =>
      circle === undefined
        ? "use the provider's model name: aliases are resolved once"
        : "use a provider's model name in one of them: aliases are resolved once",
    explanation:
      "The requested name is looked up in `modelAliases` once, and the result is sent to the provider. The provider " +
      "would have to know the second alias as a model.",
  }),
  "idle-aliases": message<Record<never, never>>({
    severity: "warning",
    text: () => "these aliases have no effect: the provider has a fixed model",
    hint: () => "remove them, or remove the `model` of the provider",
    explanation:
      "A provider with `model` always uses that model, whatever the client requests, so aliases have no effect.",
  }),
  "fixed-request-field": message<{ field: "model" | "stream" }>({
    severity: "error",
    text: ({ field }) => `"${field}" of a request cannot be set: it is read before`,
    hint: ({ field }) =>
      field === "model"
        ? "rename models with `modelAliases`, or with `transformations` if the provider has no `model`"
        : "remove it: clients choose whether they want a stream",
    explanation:
      "The provider is chosen by the `model` of a request, and the response is parsed according to `stream`. Fields " +
      "that the configuration sets are only sent to the provider, so changing these two would be inconsistent.",
  }),
  "misspelt-request-field": message<{ name: string; suggestion: string }>({
    severity: "warning",
    text: ({ name }) => `model requests have no field "${name}"`,
    hint: ({ suggestion }) => didYouMean(suggestion),
    explanation:
      "Fields that the configuration sets are sent to the provider under their names: a misspelled one makes the " +
      "provider refuse every request, or has no effect. Extensions of a server's API are not checked.",
  }),
  "untranslated-request-field": message<{ name: string; refused: readonly string[] }>({
    severity: "warning",
    text: ({ name, refused }) =>
      `translated requests are refused because of "${name}": ${refused.join(", ")}`,
    hint: () => "set it only for providers with the client's format, or remove it",
    explanation:
      "Fields are set before a request is translated. A field that the provider's format does not support is answered " +
      "with a 400 that names the field, as if the client had sent it.",
  }),
  "dropped-request-field": message<{ name: string }>({
    severity: "warning",
    text: ({ name }) =>
      `"${name}" is dropped from every request: the formats of the providers do not have it`,
    hint: () => "remove it",
    explanation:
      "Optional hints are dropped when a request is translated. This one is dropped from every request of the route.",
  }),
  "unknown-prompt-role": message<{ role: string; roles: readonly string[] }>({
    severity: "warning",
    text: ({ role }) => `"${role}" is not a valid role for an added message`,
    hint: ({ roles }) => `one of: ${roles.join(", ")}`,
    explanation:
      "Messages that the configuration adds have the role of the system, the user or the model. Providers refuse " +
      "requests with other roles, and tool results without the preceding call.",
  }),
  "no-model-known": message<Record<never, never>>({
    severity: "warning",
    text: () => "no models of this route are known: clients get an empty list",
    hint: () => "set `model` of a provider, or add models to `modelAliases`",
    explanation:
      "Requests of the route type `Models` return the models in the configuration: the fixed models of providers and " +
      "the aliases. Providers are not asked for their models.",
  }),
  "usage-not-stored": message<Record<never, never>>({
    severity: "error",
    text: () => "there is no usage to respond with: this gateway stores none",
    hint: () => "add config: { usage: {} }",
    explanation:
      "Requests of the route type `Usage` return what the caller has used. `config.usage` makes the gateway add it up in its " +
      "store (`config.store`, or a file in GWC_STATE_DIR).",
  }),
  "guard-cannot-act": message<{ guard: string; type: string }>({
    severity: "error",
    text: ({ guard, type }) => `${guard} cannot inspect ${type} requests of this route`,
    hint: ({ type }) => `move the ${type} paths to a separate route without guards`,
    explanation:
      "Guards inspect the text of requests and responses. `Passthrough` traffic and WebSocket frames (`Realtime`) are not " +
      "inspected, so clients could bypass a guard there.",
  }),
  "guard-pattern-extent": message<{ extent: "everything" | "nothing" }>({
    severity: "warning",
    text: ({ extent }) =>
      extent === "nothing" ? "this pattern never matches" : "this pattern matches everything",
    hint: ({ extent }) =>
      extent === "nothing"
        ? "check for anchors and word boundaries inside it"
        : "make it more specific",
    explanation:
      "A pattern that never matches guards nothing; a pattern that matches everything masks or rejects all text. Both " +
      "are valid, but neither is useful.",
  }),
  "idle-guard-field": message<{ field: string; actsOn: string }>({
    severity: "warning",
    text: ({ field, actsOn }) => `"${field}" applies to ${actsOn}, but this place has none`,
    hint: () => "remove it",
    explanation:
      "The rejection response has no effect on a guard that masks, and the window has none if all patterns have a " +
      "maximum length.",
  }),
  "idle-model-field": message<{ field: string; actsOn: string }>({
    severity: "warning",
    text: ({ field, actsOn }) => `"${field}" applies to ${actsOn}, but there are none`,
    hint: () => "remove it",
    explanation:
      "`health` decides which server of several gets a request. `tokenize` deducts an estimate from token limits. Without them, nothing changes. " +
      "`unsupported` is about fields that a translated request cannot have. " +
      "`urlRewrite` changes the path that a backend sees: calls of models and MCP servers have paths of their own. " +
      "A child process is called without a connection, so there is nothing to retry, to encrypt or to send a credential to.",
  }),
  "unpriced-model": message<{ model: string | undefined; system: string }>({
    severity: "warning",
    text: ({ model, system }) =>
      model === undefined
        ? `no prices of models of ${system} are known`
        : `the model catalog has no price for "${model}" of ${system}`,
    hint: ({ model = "NAME", system }) =>
      `add providers: { ${system}: { models: { "${model}": {...} } } } to \`config.modelCatalog\``,
    explanation:
      "Prices come from `config.modelCatalog`, or else from the catalogue of gwc, which has those of large vendors. Without a " +
      "price, `llm.cost` is absent, budgets do not count the model's calls, and `gwc_llm_unpriced_calls_total` counts them.",
  }),
  "retired-model": message<{ model: string }>({
    severity: "warning",
    text: ({ model }) => `"${model}" is retired: its vendor does not serve it any more`,
    hint: () => "use a newer model; `gwc explain model` lists them",
    explanation:
      "The catalog of gwc knows which models vendors have retired, as of the day that `gwc explain model` prints.",
  }),
  "unlisted-model": message<{ model: string; near: string }>({
    severity: "warning",
    text: ({ model }) => `"${model}" is not in the catalog of models`,
    hint: ({ near }) => `did you mean "${near}"?`,
    explanation:
      "The name resembles that of a known model. A new model works: requests to it are translated by rules for its family. " +
      "`config.modelCatalog` can say what it takes.",
  }),
  "unfit-model-field": message<{ name: string; model: string; limit: string }>({
    severity: "warning",
    text: ({ name, model, limit }) => `"${name}" does not fit "${model}", which takes ${limit}`,
    hint: () =>
      "change or remove it; `gwc explain model` and `config.modelCatalog` have what a model takes",
    explanation:
      "Providers refuse a request with a field that the model does not take. Translated requests are fitted to the model, " +
      "so the field has another value there or is left out. `config.modelCatalog` overrides what gwc knows of a model.",
  }),
  "unguarded-streams": message<Record<never, never>>({
    severity: "warning",
    text: () => "clients can bypass response guards by requesting a stream",
    hint: () => "remove `streaming: Disabled`: streams are then guarded chunk by chunk",
    explanation:
      "Clients choose whether a response is streamed. If streams are not guarded, a client gets the text that guards " +
      "would mask or reject by setting `stream` in its request.",
  }),
  "unbounded-guard-pattern": message<{ window: number }>({
    severity: "warning",
    text: ({ window }) =>
      `matches of this pattern have no maximum length: in streams, only the last ${window} characters are held back`,
    hint: () => "limit its repetitions (`{1,64}` instead of `+`), or set `window`",
    explanation:
      "A stream is inspected while it is forwarded, so text that may be the start of a match is held back until the " +
      "match is complete or impossible. A bounded pattern holds back at most its longest match, and masks a stream " +
      "exactly like the whole text. An unbounded pattern holds back `window` characters: the start of a longer match " +
      "is sent before the match is complete.",
  }),
  "cost-reads-response": message<Record<never, never>>({
    severity: "error",
    text: () => '"cost" cannot read `response`: it is no longer available when a call is counted',
    hint: () => "use `llm`: its tokens, models and provider",
    explanation:
      "Usage is counted when the last token has arrived. `llm` contains what the call used; the head of the HTTP " +
      "response does not affect its price.",
  }),
  "moderation-without-key": message<Record<never, never>>({
    severity: "error",
    text: () => "OpenAI's moderation API is called without a key and would refuse every request",
    hint: () => "add the key in `policies`: `backendAuth` (`auth` in manifests)",
    explanation:
      "If the moderation API refuses the call, all requests are rejected, or all pass with `failOpen`. The provider's " +
      "key is not reused because it may have another owner. Another server (`host`) may not need a key.",
  }),
  "repeated-model": message<{ name: string }>({
    severity: "error",
    text: ({ name }) => `another model is already named "${name}"`,
    hint: () => "rename one of them",
    explanation: "Each name that clients can request is either in `models` or in `virtualModels`.",
  }),
  "unknown-shared-provider": message<{ name: string; suggestion: string | undefined }>({
    severity: "error",
    text: ({ name }) => `there is no provider "${name}"`,
    hint: ({ suggestion }) => didYouMean(suggestion) ?? "add it to `llm.providers`",
    explanation:
      "A model refers to one of `llm.providers` by its name, and uses its server, key and policies.",
  }),
  "unused-shared-provider": message<{ name: string }>({
    severity: "warning",
    text: ({ name }) => `no model refers to the provider "${name}"`,
    hint: ({ name }) => `write provider: { reference: ${name} } in a model, or remove it`,
    explanation: "A provider of `llm.providers` is only called for models that refer to it.",
  }),
  "mixed-visibility": message<{ name: string }>({
    severity: "error",
    text: ({ name }) => `entries of the model "${name}" differ in "visibility"`,
    hint: () => "set the same `visibility` in all of them, or rename one",
    explanation:
      "Entries with the same name are one model whose servers share the requests. Clients can either request it or not.",
  }),
  "provider-without-server": message<{ name: string }>({
    severity: "error",
    text: ({ name }) => `"${name}" has no server`,
    hint: () => "set `baseUrl` (`host` and `port` in manifests)",
    explanation:
      "A provider that is described by the formats of its APIs has no server of its own. Its address is required.",
  }),
  "late-base-url": message<{ path: string }>({
    severity: "error",
    text: ({ path }) => `this base URL is read at startup, but the path "${path}" is not below it`,
    hint: () => "write `baseUrl` without variables, or only the server in `hostOverride`",
    explanation:
      "The path of a base URL is put before the paths of the APIs. For a path of its own, the server must be known when the gateway is built.",
  }),
  "unknown-virtual-target": message<{
    model: string;
    isVirtual: boolean;
    suggestion: string | undefined;
  }>({
    severity: "error",
    text: ({ model, isVirtual }) =>
      isVirtual ? `"${model}" is a virtual model` : `there is no model "${model}"`,
    hint: ({ isVirtual, suggestion }) =>
      isVirtual
        ? "name the models that it leads to: virtual models do not lead to each other"
        : (didYouMean(suggestion) ?? "add it to `models`; a `*` at either end is a wildcard"),
    explanation:
      "Each target of a virtual model is one of `models`, matched like a client request for it. Virtual models do not lead to each other, so they cannot form circles.",
  }),
  "unknown-allowed-model": message<{
    model: string;
    suggestion: string | undefined;
    known: readonly string[];
  }>({
    severity: "warning",
    text: ({ model }) => `there is no model "${model}" that clients can request here`,
    hint: ({ suggestion, known }) =>
      didYouMean(suggestion) ?? `available models: ${known.join(", ")}`,
    explanation:
      "`allowedModels` of a key uses the names that clients use: those of `models` and `virtualModels`, not those of " +
      "the provider. An unknown name allows nothing.",
  }),
  "passed-unread": message<Record<string, never>>({
    severity: "warning",
    text: () => "requests that pass unread are forwarded, but their tokens are not counted",
    hint: () => "write `passthrough: opaque`",
    explanation:
      "agentgateway looks for tokens in requests and responses that it does not know. gwc forwards them without reading " +
      "them, so that logs, metrics and limits do not contain their tokens.",
  }),
  "unreached-model": message<{ name: string }>({
    severity: "error",
    text: ({ name }) => `an entry of "${name}" before this one serves all requests for it`,
    hint: () => "add `matches` to that one, or move it behind this one",
    explanation:
      "Of the entries of a model with different `matches` or `authorization`, the first one that fits a request serves " +
      "it. One without both fits every request.",
  }),
  "failover-of-conditions": message<{ model: string }>({
    severity: "error",
    text: ({ model }) => `"${model}" has "matches", which failover cannot evaluate`,
    hint: () => "use `weighted` or `conditional`, or a model of another name without them",
    explanation:
      "A failover knows the servers of its models before a request. Of entries with `matches`, the request would decide. " +
      "Rules (`authorization`) of a single entry are evaluated: models that they deny are skipped.",
  }),
  "early-virtual-target": message<{ model: string }>({
    severity: "error",
    text: ({ model }) => `"${model}" has no condition, so the models after it are never used`,
    hint: () => "add `when`, or move it to the end",
    explanation:
      "The models of a conditional virtual model are tried in order, and one without a condition takes all remaining " +
      "requests.",
  }),
  "duplicate-provider": message<{ name: string }>({
    severity: "error",
    text: ({ name }) => `two providers are named "${name}"`,
    hint: () => "set a different `name` for each",
    explanation:
      "The name of a provider appears in logs, metrics and the response header that identifies it, so it must be " +
      "unique within its backend. The default name is its kind.",
  }),
};
