/** Description of `groups`. */
export const GROUPS =
  "Groups of providers in order of preference: a group is used if no provider of the earlier groups is healthy.";

/** Description of the path of the API on another server. */
export const PATH = "Path of the API on that server; the provider's own path by default.";

/** Description of the base path of the API. */
export const PREFIX =
  "Path that replaces the base path of the provider's API, such as `/v1` of OpenAI.";

/** Description of the word for a model's provider. */
export const PROVIDER_WORD = "Provider of the model, or the name of a known server.";
