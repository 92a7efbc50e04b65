import { message } from "./message.ts";

/** Diagnostics of `gwc audit` about valid configurations: open, weak or ineffective parts. */
export const auditMessages = {
  "open-backend": message<{ route: string; what: string }>({
    severity: "warning",
    text: ({ route, what }) => `the route "${route}" lets everyone use ${what}`,
    hint: () =>
      "add jwtAuth, apiKey, mcpAuthentication or authorization to the route or its listener",
    explanation:
      "No policy before this backend authenticates requests, and no rule restricts them. Anyone who reaches the port " +
      "can call its tools or spend tokens of its models. If only trusted clients can reach the gateway, accept this in " +
      "the baseline (`.gwc-audit.yaml`).",
  }),
  "passes-on-failure": message<{ what: string }>({
    severity: "warning",
    text: ({ what }) => `the route ${what}, and requests pass if it fails`,
    hint: () =>
      "remove failureMode: failOpen, or accept it with its reason in the baseline (`.gwc-audit.yaml`)",
    explanation:
      "A mistake in the code of a custom policy, or a request that makes it fail, lets requests pass unchecked with " +
      "`failureMode: failOpen`.",
  }),
  "unruled-tools": message<{ route: string }>({
    severity: "note",
    text: ({ route }) => `every authenticated caller may use every tool of the route "${route}"`,
    hint: () => "restrict tools with mcpAuthorization",
    explanation:
      "The route authenticates callers but does not restrict them. Updates of MCP servers can add tools, which all " +
      "callers can use at once. With rules in `mcpAuthorization`, tools that no rule allows are hidden. `gwc can --who " +
      "tool NAME` lists who can use a tool.",
  }),
  "denied-view-tool": message<{ name: string; view: string; tool: string; isFixed: boolean }>({
    severity: "warning",
    text: ({ name, view, tool, isFixed }) =>
      `nobody can call "${name}" of the view "${view}": the rules refuse "${tool}"${isFixed ? " with its fixed arguments" : ""}`,
    hint: () =>
      "allow the tool in mcpAuthorization, or remove it from the view; `gwc can call tool NAME` shows why",
    explanation:
      "A view grants nothing: rules decide about the tool of the server, with the arguments that the view sets. Clients of the " +
      "view do not see a tool that rules refuse in any case. If the rules refuse only these arguments, clients see the tool, and every " +
      "call is refused.",
  }),
  "body-model-rule": message<{ rule: string }>({
    severity: "warning",
    text: ({ rule }) => `requests can bypass this rule with another way to name a model: ${rule}`,
    hint: () =>
      "give API keys allowedModels, or serve the models with an ai backend that has no passthrough route",
    explanation:
      "The rule reads one member of the body. Servers also accept models in `models`, `fallbacks`, `tools` and " +
      "`plugins`, in keys with different case, and in the path or query. `allowedModels` of an API key covers all of " +
      "these and refuses requests that cannot be parsed.",
  }),
  "shared-cache": message<{ route: string; key: string; isSimilar: boolean }>({
    severity: "note",
    text: ({ route, key, isSimilar }) =>
      `callers of the route "${route}" with the same ${key} get each other's cached responses${isSimilar ? ", also to requests that are only similar" : ""}`,
    hint: () => "remove `key` of the cache, so that each caller has its own responses",
    explanation:
      "By default a cached response is only sent to the caller for whom it was made. With `key`, another caller with the " +
      "same value and an equal request gets it, too; with `semantic`, also one whose last text only means the same. Rules, limits and guards of requests still apply to each request.",
  }),
  "dead-rule": message<{ rule: string; why: string }>({
    severity: "warning",
    text: ({ rule, why }) => `this rule never decides: ${why} (${rule})`,
    hint: () => "remove or correct it; `gwc can` shows which rule decides",
    explanation:
      "Rules are evaluated in the order deny, require, allow, and the first match decides. An analysis of all possible " +
      "requests found none that this rule decides. A rule without effect looks like protection, or like a permission " +
      "that somebody relies on.",
  }),
  "passed-token": message<{ route: string }>({
    severity: "note",
    text: ({ route }) => `the servers of the route "${route}" receive the tokens of clients`,
    hint: () => "use the gateway's own credential (backendAuth), or exchange the token",
    explanation:
      "A bearer token can be used by anyone who has it. A server that receives the tokens of its callers can " +
      "impersonate them on other servers. The MCP specification forbids forwarding tokens that were not issued for " +
      "that server (2025-06-18, Security Best Practices: token passthrough).",
  }),
  "unverified-server": message<{ route: string }>({
    severity: "warning",
    text: ({ route }) => `the route "${route}" does not verify the TLS certificate of its server`,
    hint: () =>
      "set the certificate authority (backendTLS.root) and the name of the server (hostname)",
    explanation:
      "With `insecure`, any certificate is accepted: an attacker who can redirect connections can read and change the " +
      "traffic.",
  }),
  "logged-content": message<Record<never, never>>({
    severity: "warning",
    text: () => "the log or its collector receives the contents of messages",
    hint: () => "log lengths or hashes instead, or restrict who can read the log",
    explanation:
      "A field reads `request.body`, `response.body`, `llm.completion`, tool calls or their results, or `capture` exports " +
      "them. Messages often contain personal data and " +
      "credentials, which then are in every place where the log is stored.",
  }),
  "key-without-expiry": message<{ names: readonly string[] }>({
    severity: "warning",
    text: ({ names }) =>
      `${keysText(names)} in the store never ${names.length === 1 ? "expires" : "expire"}`,
    hint: ({ names: [name = "NAME"] }) => `gwc keys update ${name} --expires 90d`,
    explanation:
      "A key that was lost or copied is valid until somebody revokes it. `gwc audit --keys` reads the keys that `gwc keys` made.",
  }),
  "key-without-limit": message<{ names: readonly string[] }>({
    severity: "warning",
    text: ({ names }) =>
      `${keysText(names)} in the store ${names.length === 1 ? "has" : "have"} no limit and no budget`,
    hint: ({ names: [name = "NAME"] }) => `gwc keys update ${name} --budget 50/month`,
    explanation:
      "The holder of such a key may spend any amount on models, unless a policy of the route limits it. `gwc audit --keys` " +
      "reads the keys that `gwc keys` made.",
  }),
  "any-audience": message<{ issuers: readonly string[] }>({
    severity: "warning",
    text: ({ issuers }) =>
      `every token of ${issuers.join(" or ")} is accepted, whatever its audience`,
    hint: () => "set the audiences of this gateway: audiences: [...]",
    explanation:
      "Without `audiences`, the `aud` claim of a token is ignored. An issuer signs tokens for many services, and each " +
      "of them could use its callers' tokens here. RFC 8725 3.9 requires every recipient to check the audience, and so " +
      "does the MCP specification.",
  }),
  "unpinned-image": message<{ image: string }>({
    severity: "note",
    text: ({ image }) => `the image "${image}" is not pinned to a digest`,
    hint: ({ image }) => `pin it: ${image.replace(/@.*$/, "")}@sha256:...`,
    explanation:
      "Anyone who may push to the registry can move a tag to another image, which would run unreviewed with the " +
      "credentials and in the network of the gateway. A digest (`@sha256:`) identifies one image; `docker buildx " +
      "imagetools inspect IMAGE` prints it. This applies to the image of GatewayParameters, containers in their " +
      "overlays, and MCP servers that are started by `docker run`, `podman run` and similar commands.",
  }),
  "unlimited-models": message<{ route: string }>({
    severity: "note",
    text: ({ route }) =>
      `the spending of a caller on the models of the route "${route}" is not limited`,
    hint: () => "limit tokens or requests per caller with localRateLimit or remoteRateLimit",
    explanation:
      "Each model request costs money, and an agent in a loop can send thousands before anyone notices. A limit per " +
      "caller bounds the cost of a mistake or a stolen key. An external server (extAuthz) may already limit requests, " +
      "which gwc cannot know.",
  }),
  "no-tls13": message<{ port: number }>({
    severity: "note",
    text: ({ port }) => `port ${port} does not support TLS 1.3`,
    hint: () => "remove the maximum version, or allow TLS 1.3",
    explanation:
      "TLS 1.3 encrypts more of the handshake, needs one round trip less and has no insecure settings. gwc only offers " +
      "secure suites of TLS 1.2, so this is not a vulnerability.",
  }),
  "public-metrics": message<{ address: string }>({
    severity: "note",
    text: ({ address }) => `everyone who can reach ${address} can read the metrics`,
    hint: () =>
      "bind them to loopback or a private address (STATS_ADDR), or block the port with a firewall",
    explanation:
      "Metrics contain the names of routes, servers, models and tools, and how much each is used. They are served " +
      "without authentication, as Prometheus expects. On a machine with a public address, use a firewall or bind them " +
      "to another address.",
  }),
  "powerful-pod": message<{ what: string }>({
    severity: "warning",
    text: ({ what }) => `the parameters give the pods of the gateway ${what}`,
    hint: () => "remove it, or accept it with its reason in the baseline (`.gwc-audit.yaml`)",
    explanation:
      "A gateway needs no permissions on its node, no API server token and no other program. A pod with files, " +
      "processes or the network of its node, additional permissions, another service account, another command or " +
      "variables that load code can read all secrets of the gateway and often take over the node. Anyone who can write " +
      "GatewayParameters gets these permissions.",
  }),
  "credentials-in-clear": message<{ port: number }>({
    severity: "note",
    text: ({ port }) => `port ${port} accepts credentials without TLS, on every address`,
    hint: () =>
      "add tls to the listener, or bind to the address of a proxy in front that terminates TLS",
    explanation:
      "Tokens, keys and passwords can be read by everyone on the network path. This is fine if a load balancer in " +
      "front terminates TLS: use `address` to block direct access to the port, and record the reason in the baseline " +
      "(`.gwc-audit.yaml`).",
  }),
};

/** Maximum number of keys that a finding names. */
const MAX_NAMED = 3;

function keysText(names: readonly string[]): string {
  const more = names.length - MAX_NAMED;
  const named = names.slice(0, MAX_NAMED).map((name) => `"${name}"`);
  const kind = names.length === 1 ? "the key" : "the keys";
  return `${kind} ${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
