import { message } from "./message.ts";

/** Diagnostics about rate limits and budgets. */
export const limitMessages = {
  "repeated-key": message<Record<never, never>>({
    severity: "error",
    text: () => "this key is listed twice",
    hint: () => "remove one of them",
    explanation:
      "A key has one holder. Of two entries with the same key only the second one would be used for the holder's " +
      "metadata and allowed models.",
  }),
  "repeated-descriptor": message<{ isSame: boolean; unit: "requests" | "tokens" }>({
    severity: "warning",
    text: ({ isSame, unit }) =>
      isSame
        ? `this descriptor is listed twice: all ${unit} are counted twice`
        : "the service counts this together with the earlier descriptor that has the same entries",
    hint: ({ isSame }) =>
      isSame
        ? "remove one of them"
        : 'add a distinct entry, such as { key: "counts", value: \'"tokens"\' }',
    explanation:
      "A limit service counts by the entries of a descriptor, in their order. Two descriptors with the same entries in " +
      "one call increment the same counter: the limit is reached in half the time, requests are added to tokens, and " +
      "it is unclear which of two limits applies.",
  }),
  "counted-before-routing": message<Record<never, never>>({
    severity: "warning",
    text: () => "the service counts this twice: the listener's policy has the same entries",
    hint: () => "remove one of them",
    explanation:
      "A listener's limit before routing and the limit of the route are separate calls to the service. With the same " +
      "domain and entries, both increment the same counter. Policies of a listener that apply after routing are " +
      "replaced by those of the route, so they do not count twice.",
  }),
  "limits-nobody": message<{ variable: string; policies: string }>({
    severity: "warning",
    text: ({ variable, policies }) =>
      `"${variable}" is null for every request, so this descriptor never applies: this route has no "${policies}"`,
    hint: () => 'authenticate requests on this route, or use "source.address"',
    explanation:
      "A descriptor is omitted if one of its values is missing, and a request without descriptors is not limited. A " +
      "limit by a claim applies only to callers with a token: let the route refuse others, or add a separate " +
      "descriptor for them.",
  }),
  "limits-no-stranger": message<{ variable: string; policies: string }>({
    severity: "warning",
    text: ({ variable, policies }) =>
      `callers without "${variable}" are not limited: "${policies}" allows them`,
    hint: () => 'set the mode to strict, or add a descriptor with "source.address"',
    explanation:
      "A descriptor is omitted if one of its values is missing, and a request without descriptors is not limited. If " +
      "credentials are optional, callers without credentials bypass a limit that is based on them. A descriptor that " +
      "needs no identity limits everyone.",
  }),
  "limits-who-says-so": message<{ name: string }>({
    severity: "warning",
    text: ({ name }) => `requests without ${name} are not limited`,
    hint: () => 'add a descriptor with "source.address", or add a fallback value to the expression',
    explanation:
      "A descriptor is omitted if one of its values is missing, and a request without descriptors is not limited: " +
      'clients bypass the limit by omitting the header. `"x-team" in request.headers ? request.headers["x-team"] : ' +
      '"none"` counts those requests together; a descriptor that every request has limits everyone.',
  }),
};
