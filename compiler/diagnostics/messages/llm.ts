import { didYouMean, message } from "./message.ts";

/** Mistakes in backends of models. */
export const llmMessages = {
  "unserved-route-type": message<{ type: string; provider: string }>({
    severity: "error",
    text: ({ type, provider }) => `"${provider}" cannot serve ${type} requests`,
    hint: () => "take the path out of `routes`, or the provider out of this backend",
    explanation:
      "Every path of `routes` carries one kind of request, and every provider of the backend has to serve it: in the format of the client, or by translation. A pair that cannot be served is known at build, so that no client finds out.",
  }),
  "routes-of-provider": message<{ name: string; field: string }>({
    severity: "error",
    text: ({ name, field }) =>
      `"${field}" holds for every provider of a route, and stands at "${name}" alone`,
    hint: ({ field }) => `move \`${field}\` to the policies of the backend or of the route`,
    explanation:
      "What a client speaks is known from the path, before a provider is chosen, and a response names its provider or does not whoever responded: such fields hold for all providers of a route.",
  }),
  "foreign-model": message<{
    model: string;
    provider: string;
    prefixes: readonly string[];
    other: string | undefined;
  }>({
    severity: "warning",
    text: ({ model, provider }) => `"${model}" is no name of a model of ${provider}`,
    hint: ({ prefixes, other }) =>
      other === undefined
        ? `names of its models begin with ${prefixes.join(", ")}; another server that speaks as it does is named by \`hostOverride\` (\`host\` in manifests)`
        : `it may be one of ${other}`,
    explanation:
      "The names of a provider's models begin alike. A name that does not is mostly one of another provider, and the provider would refuse every request. Servers that speak as a provider does have names of their own and are not judged.",
  }),
  "assumed-region": message<{ name: string; region: string }>({
    severity: "warning",
    text: ({ name, region }) => `"${name}" names no region: ${region} is asked`,
    hint: () => "set `region` (`awsRegion` in the `params` of `llm`)",
    explanation:
      "Models, prices and quotas differ by region, and keys of one region may not hold in another, so the region is better said than assumed. The variables of the process where the gateway runs do not change it.",
  }),
  "alias-of-alias": message<{
    alias: string;
    model: string;
    circle: readonly string[] | undefined;
  }>({
    severity: "warning",
    text: ({ alias, model, circle }) =>
      circle === undefined
        ? `"${alias}" stands for "${model}", which is an alias too`
        : `aliases lead in a circle: ${circle.join(" -> ")}`,
    hint: ({ circle }) =>
      circle === undefined
        ? "name the provider's model: names are replaced once"
        : "name a provider's model in one of them: names are replaced once",
    explanation:
      "A name that a client asks for is looked up in `modelAliases` once, and what it stands for goes to the provider as it is. An alias of an alias would have to be known to the provider by that name.",
  }),
  "idle-aliases": message<Record<never, never>>({
    severity: "warning",
    text: () => "no model is looked up in these aliases: the model of every request is fixed",
    hint: () => "remove them, or remove the `model` of the provider",
    explanation:
      "A provider with a `model` is asked for that one whatever the client names, so there is no name left that an alias could stand for.",
  }),
  "fixed-request-field": message<{ field: "model" | "stream" }>({
    severity: "error",
    text: ({ field }) => `"${field}" of a request is read before its fields are set`,
    hint: ({ field }) =>
      field === "model"
        ? "give models other names in `modelAliases`, or by an expression in `transformations` where the provider has no `model`"
        : "take it out: clients say whether they take a stream",
    explanation:
      "Who is asked and where follows from the model of a request, and how its response is read from `stream`. Fields that the configuration sets go to the provider alone: another model or a stream there would be what nobody expects.",
  }),
  "misspelt-request-field": message<{ name: string; suggestion: string }>({
    severity: "warning",
    text: ({ name }) => `requests to models have no field "${name}"`,
    hint: ({ suggestion }) => didYouMean(suggestion),
    explanation:
      "Fields that the configuration sets go to the provider as they are called: one with a mistake in its name is refused there with every request, or does nothing. Fields that a server has beyond its API are not judged.",
  }),
  "untranslated-request-field": message<{ name: string; refused: readonly string[] }>({
    severity: "warning",
    text: ({ name, refused }) =>
      `every request is refused for "${name}" that is translated: ${refused.join(", ")}`,
    hint: () => "set it for providers alone that are asked in the client's format, or take it out",
    explanation:
      "Fields are set before a request is translated. What the provider's format cannot say is a 400 that names the field, as if the client had sent it.",
  }),
  "dropped-request-field": message<{ name: string }>({
    severity: "warning",
    text: ({ name }) =>
      `"${name}" reaches no provider: it is a hint that their formats do not have`,
    hint: () => "take it out",
    explanation:
      "Hints without which a completion is right are left out where a request is translated. This one is left out of every request of the route.",
  }),
  "unknown-prompt-role": message<{ role: string; roles: readonly string[] }>({
    severity: "warning",
    text: ({ role }) => `"${role}" is no role that a prompt begins or ends with`,
    hint: ({ roles }) => `one of: ${roles.join(", ")}`,
    explanation:
      "A message that the configuration adds is one of the system's, the user's or the model's. Providers refuse requests with other roles, and results of tools without the call before them.",
  }),
  "no-model-known": message<Record<never, never>>({
    severity: "warning",
    text: () => "no model of this route is known: the list that clients get is empty",
    hint: () => "give a provider its `model`, or name models in `modelAliases`",
    explanation:
      "Requests of the route type `Models` get the models that the configuration names: those that providers are fixed to, and the aliases. What else a provider has is not asked for.",
  }),
  "guard-cannot-act": message<{ type: string }>({
    severity: "error",
    text: ({ type }) => `"promptGuard" cannot act on ${type} requests of this route`,
    hint: ({ type }) => `give the paths of ${type} a route of their own, without guards`,
    explanation:
      "Guards read the texts of requests and responses. What passes as it is (`Passthrough`), or as frames of a WebSocket (`Realtime`), is not read: a guard beside it would protect nothing there, and a client could go around it.",
  }),
  "guard-pattern-extent": message<{ extent: "everything" | "nothing" }>({
    severity: "warning",
    text: ({ extent }) =>
      extent === "nothing" ? "no text matches this pattern" : "every text matches this pattern",
    hint: ({ extent }) =>
      extent === "nothing"
        ? "look for anchors and word boundaries in its middle"
        : "write what a match has to hold",
    explanation:
      "A pattern that nothing matches guards nothing; one that every text matches masks or rejects all there is. Both are valid, and neither is what a guard is for.",
  }),
  "idle-guard-field": message<{ field: string; actsOn: string }>({
    severity: "warning",
    text: ({ field, actsOn }) => `"${field}" acts on ${actsOn}, and here is none`,
    hint: () => "remove it",
    explanation:
      "What clients get for a rejection means nothing at a guard that masks, and a window nothing where every pattern has a bound.",
  }),
  "unguarded-streams": message<Record<never, never>>({
    severity: "warning",
    text: () => "who asks for a stream goes around the guards of responses",
    hint: () => "take `streaming: Disabled` out: streams are guarded as they pass",
    explanation:
      "Whether a response is a stream is for its client to say. Where streams are not guarded, a client gets what the guards would have masked or rejected by setting `stream` in its request.",
  }),
  "unbounded-guard-pattern": message<{ window: number }>({
    severity: "warning",
    text: ({ window }) =>
      `a match of this pattern may have any length: in streams ${window} characters at most wait for its end`,
    hint: () => "bound its repetitions (`{1,64}` in the place of `+`), or set `window`",
    explanation:
      "A stream goes on while it is looked at, so what may be the beginning of a match has to wait until it is one or cannot become one. A pattern with a bound waits for its longest match at most, and a masked stream reads as the masked whole text. A pattern without a bound waits for `window` characters: the beginning of a longer match goes out before it is known to be one.",
  }),
  "cost-reads-response": message<Record<never, never>>({
    severity: "error",
    text: () => '"cost" reads `response`, which is over when a call is counted',
    hint: () => "read `llm`: its tokens, its models, its provider",
    explanation:
      "What a call takes of a limit is counted when its last token is known: `llm` says what it used. The head of the HTTP response is nothing that a price depends on.",
  }),
  "moderation-without-key": message<Record<never, never>>({
    severity: "error",
    text: () => "OpenAI's moderation is asked without a key, and would refuse every request",
    hint: () => "name the key in `policies`: `backendAuth` (`auth` in manifests)",
    explanation:
      "A moderation that refuses to be asked lets nothing pass, or, with `failOpen`, everything. The key of the provider is not shown to it by itself: the two may have different owners. Another server (`host`) may need none.",
  }),
  "repeated-model": message<{ name: string }>({
    severity: "error",
    text: ({ name }) => `clients know another model as "${name}"`,
    hint: () => "give one of them another name",
    explanation:
      "A virtual model stands for others: what clients ask for is either one of `models` or one of `virtualModels`.",
  }),
  "unknown-virtual-target": message<{ model: string; suggestion: string | undefined }>({
    severity: "error",
    text: ({ model }) => `no model is called "${model}"`,
    hint: ({ suggestion }) =>
      didYouMean(suggestion) ?? "name it under `models`, there may be a `*` at an end",
    explanation:
      "A virtual model is served by `models`: each of its targets is one of them, found as for a client that asks for it.",
  }),
  "unknown-allowed-model": message<{
    model: string;
    suggestion: string | undefined;
    known: readonly string[];
  }>({
    severity: "warning",
    text: ({ model }) => `no model that clients can ask for here is called "${model}"`,
    hint: ({ suggestion, known }) => didYouMean(suggestion) ?? `models here: ${known.join(", ")}`,
    explanation:
      "`allowedModels` of a key names models as clients do: by the names of `models` and `virtualModels`, not by those that " +
      "the provider has for them. A name that stands for none of them allows nothing.",
  }),
  "early-virtual-target": message<{ model: string }>({
    severity: "error",
    text: ({ model }) => `"${model}" has no condition, so that no model behind it is ever asked`,
    hint: () => "give it a `when`, or put it at the end",
    explanation:
      "The models of a conditional virtual model are tried in their order, and one without a condition takes every request that is left.",
  }),
  "duplicate-provider": message<{ name: string }>({
    severity: "error",
    text: ({ name }) => `two providers are called "${name}"`,
    hint: () => "give each a `name` of its own",
    explanation:
      "A provider's name stands in logs, in metrics, and in the response header that tells who responded, so it is unique within its backend. Without `name` a provider is called after its kind.",
  }),
};
