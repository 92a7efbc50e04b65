import { message } from "./message.ts";

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
  "no-model-known": message<Record<never, never>>({
    severity: "warning",
    text: () => "no model of this route is known: the list that clients get is empty",
    hint: () => "give a provider its `model`, or name models in `modelAliases`",
    explanation:
      "Requests of the route type `Models` get the models that the configuration names: those that providers are fixed to, and the aliases. What else a provider has is not asked for.",
  }),
  "duplicate-provider": message<{ name: string }>({
    severity: "error",
    text: ({ name }) => `two providers are called "${name}"`,
    hint: () => "give each a `name` of its own",
    explanation:
      "A provider's name stands in logs, in metrics, and in the response header that tells who responded, so it is unique within its backend. Without `name` a provider is called after its kind.",
  }),
};
