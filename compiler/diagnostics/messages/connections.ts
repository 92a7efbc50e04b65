import { message } from "./message.ts";

const OPEN_PROXY_HINTS = {
  host: `add "authorization" to its policies, for example rules: ['request.host in ["api.example.com", "api.example.com:443"]']; the host of CONNECT has its port`,
  name: "list its hostnames, or add authorization to its policies",
  expression:
    'add "authorization" to its policies, with rules for what "target" reads, or for who may send requests',
};

/** Diagnostics about connections with clients and backends. */
export const connectionMessages = {
  "proxy-of-anyone": message<Record<never, never>>({
    severity: "warning",
    text: () => "every client can claim any source address with the PROXY protocol",
    hint: () =>
      "list the proxies in frontendPolicies.proxyProtocol.trustedSources (addresses or ranges)",
    explanation:
      "Rules, limits and logs use the client address that the PROXY protocol reports. If the port is reachable by " +
      "others than the proxies, they can claim any address.",
  }),
  "tls-versions": message<{ min: string; max: string }>({
    severity: "error",
    text: ({ min, max }) => `the lowest TLS version (${min}) is above the highest (${max})`,
    explanation: "No handshake could succeed because no version is in the range.",
  }),
  "tls-suites": message<{ version: string }>({
    severity: "error",
    text: ({ version }) => `${version} is allowed, but none of these cipher suites belongs to it`,
    hint: ({ version }) => `add a suite of ${version}, or change the lowest and highest version`,
    explanation:
      "TLS 1.2 and TLS 1.3 have separate suites (`TLS_ECDHE_...` and `TLS13_...`). If an allowed version has no suite, " +
      "every handshake with it fails.",
  }),
  "spiffe-without-source": message<{ isManifest: boolean }>({
    severity: "error",
    text: () => "the gateway has no source of its SPIFFE identity",
    hint: ({ isManifest }) =>
      isManifest
        ? "add `spiffe: {}` to the GatewayParameters of its Gateway or GatewayClass"
        : "add config.spiffe.endpoint, for example unix:///run/spire/agent/public/api.sock",
    explanation:
      "An agent on the same machine, such as SPIRE's, gives the gateway its certificate, its key and the authorities of " +
      "its trust domain (SPIFFE Workload API). Without its address, handshakes that need them could never succeed.",
  }),
  "spiffe-unused": message<Record<never, never>>({
    severity: "warning",
    text: () => "nothing uses the SPIFFE identity of the gateway",
    hint: () =>
      "add `spiffe: {}` to `tls` of a listener or to `backendTLS`, or remove config.spiffe",
    explanation:
      "The gateway asks the SPIFFE Workload API only if a listener or a backend uses the identity. Until it has one, it " +
      "reports that it is not ready.",
  }),
  "acme-without-account": message<Record<never, never>>({
    severity: "error",
    text: () => "the gateway has no account at an ACME server",
    hint: () => "add config.acme: { email: you@example.com, termsOfServiceAgreed: true }",
    explanation:
      "`tls: { acme: {} }` orders a certificate with the account of `config.acme`. It is registered at the first order, and " +
      "the authority requires that you agree to its terms.",
  }),
  "acme-unused": message<Record<never, never>>({
    severity: "warning",
    text: () => "no listener orders a certificate",
    hint: () => "add `acme: {}` to `tls` of a listener, or remove config.acme",
    explanation: "The account is only registered when the first certificate is ordered.",
  }),
  "acme-names": message<{ hostname: string }>({
    severity: "error",
    text: ({ hostname }) =>
      `the listener serves "${hostname}", which names no host to order a certificate for`,
    hint: () => "add the names: acme: { names: [shop.example.com] }",
    explanation:
      "A certificate is ordered for exact names. A listener without `hostname`, or with `*` in it, does not say which.",
  }),
  "acme-wildcard": message<{ name: string }>({
    severity: "error",
    text: ({ name }) => `a certificate for "${name}" cannot be ordered`,
    hint: () =>
      "list the names, or order the certificate with a program that changes DNS, and write its files as `cert` and `key`",
    explanation:
      "Authorities issue certificates for `*` only after a challenge in DNS (dns-01), which needs access to the zone. gwc " +
      "answers challenges over HTTP and TLS.",
  }),
  "acme-name-elsewhere": message<{ name: string; hostname: string }>({
    severity: "error",
    text: ({ name, hostname }) => `the listener serves "${hostname}", not "${name}"`,
    hint: () =>
      "remove the name, or change `hostname`; another listener can order its own certificate",
    explanation: "A certificate is used for the server names of its own listener.",
  }),
  "acme-without-http": message<Record<never, never>>({
    severity: "error",
    text: () => "http-01 requires a port without TLS, and the gateway has none",
    hint: () => "add one: gateways: { web: { port: 80 } }, or use challenge: tls-alpn-01",
    explanation:
      "The ACME server asks for a token on port 80 of each name. The gateway answers on every port without TLS; if it is not 80, " +
      "something has to forward port 80 to it.",
  }),
  "alpn-version": message<{ version: string; protocol: string }>({
    severity: "error",
    text: ({ version, protocol }) => `${version} requires "${protocol}" in alpn`,
    hint: ({ protocol }) => `add "${protocol}" to alpn, or remove alpn`,
    explanation:
      "The TLS handshake negotiates the HTTP version (ALPN): a version that is not offered is never negotiated.",
  }),
  "grpc-over-http1": message<Record<never, never>>({
    severity: "error",
    text: () => "this server uses gRPC, which requires HTTP/2",
    hint: () => "remove `version`, or set it to HTTP2",
    explanation:
      "Authorization servers and OTLP collectors with protocol grpc, processors, limit services and endpoint pickers " +
      "are called over gRPC, which requires HTTP/2.",
  }),
  "repeated-base-path": message<{
    base: string;
    path: string;
    repeated: string;
    field: string;
  }>({
    severity: "error",
    text: ({ base, path, repeated }) =>
      `requests would be sent to "${base}${path}", with "${repeated}" twice`,
    hint: ({ repeated, field }) => `remove "${repeated}" from \`${field}\``,
    explanation:
      "API paths (those of a provider or its `pathOverride`; `/v1/traces` for a collector) are appended to the path of " +
      "the server URL. Clients of OpenAI's API use a base URL that ends with `/v1`; here the paths already contain it.",
  }),
  "grpc-with-path": message<{ path: string; overHttp: string | undefined }>({
    severity: "error",
    text: ({ path }) => `this server uses gRPC, which does not support the path "${path}"`,
    hint: ({ overHttp }) =>
      overHttp === undefined ? "remove it" : `remove it, or use HTTP (${overHttp})`,
    explanation:
      "The path of a gRPC call is the name of its method, such as `/envoy.service.auth.v3.Authorization/Check`. It " +
      "cannot have a prefix.",
  }),
  "mixed-passthrough": message<Record<never, never>>({
    severity: "error",
    text: () => "only some backends of this route get the client's token",
    hint: () => "move backendAuth to the route, or the backends to separate routes",
    explanation:
      "The token is restored before a backend is chosen. A backend that should not get the token must not see it.",
  }),
  "open-proxy": message<{ route: string; by: "host" | "name" | "expression" }>({
    severity: "error",
    text: ({ route, by }) =>
      by === "expression"
        ? `every client can reach what "target" computes through the route "${route}"`
        : `clients can reach any host through the route "${route}"`,
    hint: ({ by }) => OPEN_PROXY_HINTS[by],
    explanation:
      "A dynamic backend connects to the host that the client chooses, or that `target` computes from the request. " +
      "Without an `authorization` rule on its route " +
      "the gateway would be an open proxy. For TLS connections, `hostnames` limit the destinations in the same way. " +
      "Non-public addresses are always refused unless `allowPrivate` allows them.",
  }),
  "dynamic-credential": message<Record<never, never>>({
    severity: "error",
    text: () => "the gateway's own credential would be sent to any host that a client chooses",
    hint: () => "add a route with a `host` backend for each intended host",
    explanation:
      "A dynamic backend connects to the host that the client chooses, so a client could have the key sent to its own " +
      "server. `passthrough` is allowed because the token already belongs to the client.",
  }),
  "no-tunnels": message<Record<never, never>>({
    severity: "note",
    text: () => "clients of this proxy cannot open tunnels, so they reach no https URL through it",
    hint: () => "add connect: { ports: [443] }, and rules for hosts with their ports",
    explanation:
      "For an https URL, clients with a proxy send CONNECT with host and port, and encrypt what follows. Without " +
      "`connect`, a dynamic backend responds 501 to it. Plain HTTP requests are forwarded either way.",
  }),
  "unknown-aws-scope": message<{ what: "region" | "service"; hint?: string }>({
    severity: "error",
    text: ({ what }) => `the AWS ${what} cannot be derived from the host of this backend`,
    hint: ({ what, hint }) => hint ?? `add "${what}" to backendAuth.aws`,
    explanation:
      "A signature is valid for one service in one region. Hosts such as `SERVICE.REGION.amazonaws.com` contain both. " +
      "For other hosts, and for hosts that are only known when the gateway starts, set `region` and `service`.",
  }),
  "connection-without-user": message<{ field: string; policies: string }>({
    severity: "error",
    text: ({ field }) => `"${field}" needs the user of each request`,
    hint: ({ policies }) => `add "${policies}" to the policies of the route, in strict mode`,
    explanation:
      "A connection belongs to one user, whom a verified token or a login names. A request without a user could use the " +
      "account of another one.",
  }),
  "logout-by-other-claim": message<{ claim: string }>({
    severity: "warning",
    text: ({ claim }) =>
      `logouts that the provider announces do not end these connections: they name users by "sub", not by "${claim}"`,
    hint: () => "remove `userClaim`, or `backChannelPath` of the login",
    explanation:
      "A provider announces a logout with the claims `sub` and `sid` only (OpenID Connect Back-Channel Logout). The gateway cannot " +
      "find the connections of a user by another claim. Sessions of the user end in any case.",
  }),
  "unknown-connection": message<{ name: string; page: string; claim: string }>({
    severity: "error",
    text: ({ name, page, claim }) =>
      `no route offers the connection "${name}" at ${page} for users by "${claim}"`,
    hint: () => 'add it to `servers` of "userConnections" with this url, and the same userClaim',
    explanation:
      "Users connect their accounts on the page of a route with `userConnections`. Without it, the server never gets a token.",
  }),
  "duplicate-connection": message<{ name: string }>({
    severity: "error",
    text: ({ name }) => `two servers are called "${name}"`,
    hint: () => "rename one",
    explanation: "The name of a connection is part of its URLs, and of the records of its tokens.",
  }),
  "misplaced-field": message<{ field: string; actsOn: string; found: string | undefined }>({
    severity: "error",
    text: ({ field, actsOn, found }) =>
      found === undefined
        ? `${field} applies to ${actsOn}, but this place has none`
        : `${field} applies to ${actsOn}, and there ${found === "one" ? "is" : "are"} only ${found} here`,
    hint: ({ found }) =>
      found === "connections"
        ? "use a listener with protocol: HTTP or HTTPS, or remove it"
        : "remove it, or move it to where it applies",
    explanation:
      "Each section applies to something: requests, MCP messages, connections to a backend. Where that does not exist, " +
      "the section would not be enforced. A route that responds itself calls no backend. An MCP endpoint calls its " +
      "servers itself, so one client request can become several calls or none. A Realtime session stays open, so it is " +
      "not a single call, and model lists are answered by the gateway. A child process has no connection. The bytes of " +
      "TCP and TLS routes are passed through, so only who may connect (`authorization` over `source`) and how the " +
      "backend is reached (`tcp`, `backendTLS`) can be configured. A section on a Gateway or a whole route applies " +
      "where it can, and is reported if that is nowhere.",
  }),
  "not-for-calls": message<{ field: string; user: string }>({
    severity: "warning",
    text: ({ field, user }) => `${field} does not apply to the calls of ${user} to this server`,
    hint: () => "enforce it in the server itself if it must apply to them too",
    explanation:
      "A server may receive client requests and calls by the gateway itself: for authorization, limits, processing, " +
      "guards, keys, mirrored requests and traces. Connection settings (`tcp`, `tls`, `http`, `auth`, `tunnel`) and " +
      "added request headers apply to both. Health, rules and transformations apply only to client requests.",
  }),
  "wrong-routes": message<{ field: string; protocol: string; instead: string }>({
    severity: "error",
    text: ({ field, protocol }) => `a listener with protocol: ${protocol} has no "${field}"`,
    hint: ({ instead }) => `use "${instead}" instead`,
    explanation:
      "HTTP and HTTPS listeners handle requests with `routes`. TCP and TLS listeners forward connections with " +
      "`tcpRoutes`.",
  }),
  "name-without-tls": message<Record<never, never>>({
    severity: "error",
    text: () => "a TCP connection has no hostname, so this would never match",
    hint: () => "set protocol: TLS, or remove the hostname",
    explanation:
      "Only TLS carries the name of the requested server (SNI, RFC 6066). Without TLS, all connections to a port go to " +
      "the same place.",
  }),
  "https-passthrough": message<Record<never, never>>({
    severity: "error",
    text: () => "an HTTPS listener cannot pass TLS through: it needs the decrypted requests",
    hint: () => "set protocol: TLS, and attach a TLSRoute",
    explanation:
      "HTTPS listeners route requests, so the gateway must terminate TLS. Use a TLS listener to pass encrypted " +
      "connections through to the backend (Gateway API, `tls.mode: Passthrough`).",
  }),
  "log-of-requests": message<Record<never, never>>({
    severity: "warning",
    text: () => "filters and added fields do not apply to access lines of TCP and TLS connections",
    explanation:
      "Filters and fields of the access log are expressions over a request and its response. A passed-through " +
      "connection has neither: it is logged with the standard connection fields, except for those in `remove`.",
  }),
  "no-destination": message<Record<never, never>>({
    severity: "error",
    text: () => "a TCP connection has no hostname that a dynamic backend could connect to",
    hint: () => "set protocol: TLS to use the server name as the destination",
    explanation:
      "A dynamic backend takes its destination from the client: the Host of a request, or the server name (SNI) of a " +
      "TLS connection. A TCP connection has neither.",
  }),
  "needs-source": message<{ variable: string; isOfPolicy?: boolean; hasDestination?: boolean }>({
    severity: "error",
    text: ({ variable, hasDestination }) =>
      `"${variable}" is not available for a connection: only "source" ${hasDestination === true ? 'and "destination" are' : "is"}`,
    hint: ({ isOfPolicy }) =>
      isOfPolicy === true
        ? "a policy of a Gateway also applies to its TCP and TLS listeners: add the sectionName of an HTTP listener to the targetRef, or target the routes"
        : undefined,
    explanation:
      "Rules for connections are evaluated before any data is read. They can use the source (`source.address`, " +
      "`source.port`); `networkAuthorization` can also use the client certificate if the gateway terminates TLS, and " +
      "`networkExtAuthz` that and `destination`. To " +
      "match the requested server, use `hostnames`.",
  }),
  "shell-syntax": message<{ found: string; instead: string | undefined }>({
    severity: "warning",
    text: ({ found }) => `no shell expands "${found}": the server receives it as it is`,
    hint: ({ instead }) =>
      instead === undefined
        ? 'start a shell: cmd: sh, args: ["-c", "…"]'
        : `write ${instead}, which is read from the environment`,
    explanation:
      "The command of a stdio server is started without a shell, so that no value can inject a command. `~`, pipes " +
      "and redirections have no meaning there. `$NAME` and `${NAME}` are replaced by gwc.",
  }),
  "sse-address": message<Record<string, never>>({
    severity: "note",
    text: () => 'an address that ends with "/sse" usually speaks the older SSE transport',
    hint: () => "write `sse:` in place of `mcp:` if it does",
    explanation:
      "Servers of the protocol version 2024-11-05 open a stream with GET at `/sse` and take messages at another " +
      "address. The target `mcp` speaks streamable HTTP, which such servers answer with 404 or 405.",
  }),
  "unpinned-package": message<{ name: string; stem: string }>({
    severity: "note",
    text: ({ name }) =>
      `"${name}" has no version: the newest one is fetched when the server starts`,
    hint: ({ stem }) => `add a version: ${stem}@1.2.3`,
    explanation:
      "A runner such as npx or uvx fetches a package when a session begins. Without a version, a newer, unreviewed " +
      "release may run tomorrow with the permissions of the gateway.",
  }),
  "not-in-image": message<{ what: string }>({
    severity: "warning",
    text: ({ what }) => `the image of the generated Dockerfile does not contain "${what}"`,
    hint: () =>
      "build an image FROM it that contains it; in the generated one the server cannot start",
    explanation:
      "The image contains Node.js with npm and npx, and Python and uv if a server needs them. It contains no other " +
      "commands or files: use your own Dockerfile that starts FROM the image that gwc's Dockerfile builds, and add " +
      "them. `gwc run` and `node gateway.mjs` use the commands of the machine.",
  }),
};
