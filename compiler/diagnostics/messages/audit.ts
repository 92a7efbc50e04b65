import { message } from "./message.ts";

/** What `gwc audit` says of a configuration that has no mistake: what is open, weak or does nothing. */
export const auditMessages = {
  "open-backend": message<{ route: string; what: string }>({
    severity: "warning",
    text: ({ route, what }) => `the route "${route}" lets everybody use ${what}`,
    hint: () =>
      "add jwtAuth, apiKey, mcpAuthentication or authorization to the route or its listener",
    explanation:
      "Nothing before this backend asks who sends a request, and no rule says who may. Whoever reaches the port calls its " +
      "tools, or spends the tokens of its models. A gateway that is reached by trusted clients alone can say so in the " +
      "baseline (`.gwc-audit.yaml`).",
  }),
  "unruled-tools": message<{ route: string }>({
    severity: "note",
    text: ({ route }) => `everybody who is known may use every tool of the route "${route}"`,
    hint: () => "say who may use what in mcpAuthorization",
    explanation:
      "The route asks who a caller is and not what they may do. MCP servers get new tools with their updates, and each of " +
      "them is offered to all callers as soon as it is there. With rules in `mcpAuthorization` a tool that no rule allows is " +
      "hidden. `gwc can --who tool NAME` says who may use one.",
  }),
  "body-model-rule": message<{ rule: string }>({
    severity: "warning",
    text: ({ rule }) => `requests can name a model past this rule: ${rule}`,
    hint: () =>
      "give API keys allowedModels, or serve the models with an ai backend that has no passthrough route",
    explanation:
      "The rule reads one member of the body. Servers also take models from `models`, `fallbacks`, `tools`, `plugins`, from " +
      "keys in another case and from the path or query. `allowedModels` of an API key sees all of these places and refuses " +
      "requests that nobody can read.",
  }),
  "dead-rule": message<{ rule: string; why: string }>({
    severity: "warning",
    text: ({ rule, why }) => `this rule never decides: ${why} (${rule})`,
    hint: () => "remove it, or say what was meant; `gwc can` shows which rule decides",
    explanation:
      "Rules are asked in the order deny, require, allow, and the first that decides ends it. All requests were worked " +
      "out: there is none for which this rule is the one that decides. A rule that does nothing looks like protection, or " +
      "like a permission that somebody relies on.",
  }),
  "passed-token": message<{ route: string }>({
    severity: "note",
    text: ({ route }) => `the servers of the route "${route}" get the token of each client`,
    hint: () => "let the gateway have a credential of its own (backendAuth), or exchange the token",
    explanation:
      "Whoever has a bearer token can use it anywhere that takes it. A server that is passed the tokens of its callers can " +
      "act as any of them, on other servers too. The MCP specification forbids it for tokens that were not issued for that " +
      "server (2025-06-18, Security Best Practices: token passthrough).",
  }),
  "unverified-server": message<{ route: string }>({
    severity: "warning",
    text: ({ route }) =>
      `the route "${route}" speaks TLS with a server whose certificate is not checked`,
    hint: () => "give the authority of its certificate (backendTLS.root), and its name (hostname)",
    explanation:
      "With `insecure` any certificate will do: whoever can redirect connections on the way reads and changes what passes, " +
      "and TLS keeps out nobody who matters.",
  }),
  "any-audience": message<{ issuers: readonly string[] }>({
    severity: "warning",
    text: ({ issuers }) =>
      `every token of ${issuers.join(" or ")} counts, whoever it was issued for`,
    hint: () => "name the audiences of this gateway: audiences: [...]",
    explanation:
      "Without `audiences` the `aud` claim of a token is not looked at. An issuer signs tokens for many services, and each of " +
      "them sees those of its callers: any one can use them here, as those callers. RFC 8725 3.9 asks every recipient to " +
      "check the audience, and the MCP specification requires it.",
  }),
  "unpinned-image": message<{ image: string }>({
    severity: "note",
    text: ({ image }) => `the image "${image}" may be another one whenever it is fetched`,
    hint: ({ image }) => `name its digest: ${image.replace(/@.*$/, "")}@sha256:...`,
    explanation:
      "A tag is moved to another image by whoever may push to the registry: what runs tomorrow, with the credentials and in " +
      "the network of the gateway, was reviewed by nobody. A digest (`@sha256:`) names one image for good; " +
      "`docker buildx imagetools inspect IMAGE` says it. It concerns the image of GatewayParameters, containers that their " +
      "overlays bring, and MCP servers that are started by `docker run`, `podman run` and their like.",
  }),
  "unlimited-models": message<{ route: string }>({
    severity: "note",
    text: ({ route }) =>
      `nothing limits what a caller spends on the models of the route "${route}"`,
    hint: () => "limit tokens or requests for each caller: localRateLimit or remoteRateLimit",
    explanation:
      "Each request to a model costs money, and a loop in one agent sends thousands of them before anybody looks. A limit for " +
      "each caller bounds what one mistake, or one stolen key, can cost. A server that is asked about each request " +
      "(extAuthz) may limit it as well, which is not known here.",
  }),
  "no-tls13": message<{ port: number }>({
    severity: "note",
    text: ({ port }) => `port ${port} speaks TLS 1.2 at most`,
    hint: () => "leave out the highest version, or allow TLS 1.3",
    explanation:
      "TLS 1.3 hides more of the handshake, needs a round trip less, and has no settings that can be got wrong. gwc offers only " +
      "sound suites of TLS 1.2, so nothing is broken by it; clients that could do better just can't.",
  }),
  "public-metrics": message<{ address: string }>({
    severity: "note",
    text: ({ address }) => `everybody who reaches ${address} can read the metrics`,
    hint: () =>
      "bind them to loopback or an inner address (STATS_ADDR), or keep the port from others",
    explanation:
      "Metrics name routes, servers, models and tools, and say how much each is used. They are served without authentication, " +
      "as Prometheus asks for them. On a machine with an address of the Internet a firewall or another address keeps them in.",
  }),
  "powerful-pod": message<{ what: string }>({
    severity: "warning",
    text: ({ what }) => `the parameters give the pods of the gateway ${what}`,
    hint: () => "remove it, or accept it with its reason in the baseline (`.gwc-audit.yaml`)",
    explanation:
      "A gateway needs no right on its node, no token of the API server and no other program. A pod with files, processes or " +
      "the network of its node, with more rights, another service account, another command or variables that load code can " +
      "read every secret of the gateway and often take over the node. Who may write GatewayParameters gets these rights.",
  }),
  "credentials-in-clear": message<{ port: number }>({
    severity: "note",
    text: ({ port }) => `port ${port} takes credentials without TLS, on every address`,
    hint: () => "add tls to the listener, or bind to the address where something in front ends TLS",
    explanation:
      "Tokens, keys and passwords cross the network readable by everybody on the way. Where a load balancer ends TLS in " +
      "front of the gateway this is fine: `address` keeps others from reaching the port, and the baseline " +
      "(`.gwc-audit.yaml`) keeps the reason.",
  }),
};
