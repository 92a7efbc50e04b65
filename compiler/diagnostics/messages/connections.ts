import { message } from "./message.ts";

/** Connections with clients and backends that can't be as configured. */
export const connectionMessages = {
  "proxy-of-anyone": message<Record<never, never>>({
    severity: "warning",
    text: () => "every client may say that a connection is another one's",
    hint: () =>
      "name the proxies: frontendPolicies.proxyProtocol.trustedSources (addresses or ranges)",
    explanation:
      "What the PROXY protocol says of a client is what rules, limits and logs see of its address. Where the port can be reached by others than the proxies, those can choose any address.",
  }),
  "tls-versions": message<{ min: string; max: string }>({
    severity: "error",
    text: ({ min, max }) => `the lowest TLS version (${min}) is above the highest (${max})`,
    explanation: "No handshake could succeed: there is no version between the two.",
  }),
  "tls-suites": message<{ version: string }>({
    severity: "error",
    text: ({ version }) => `none of these cipher suites belongs to ${version}, which is allowed`,
    hint: ({ version }) => `add a suite of ${version}, or change the lowest and highest version`,
    explanation:
      "TLS 1.2 and TLS 1.3 have suites of their own (`TLS_ECDHE_...` and `TLS13_...`). A version that is allowed but has " +
      "no suite would fail every handshake without a word.",
  }),
  "alpn-version": message<{ version: string; protocol: string }>({
    severity: "error",
    text: ({ version, protocol }) => `${version} needs "${protocol}" in ALPN, which is not offered`,
    hint: ({ protocol }) => `add "${protocol}" to alpn, or leave alpn out`,
    explanation:
      "What is spoken over TLS is what the handshake agrees on (ALPN): a version that is not offered is never agreed on.",
  }),
  "grpc-over-http1": message<Record<never, never>>({
    severity: "error",
    text: () => "this server speaks gRPC, which there is none of over HTTP/1.1",
    hint: () => "leave version out, or say HTTP2",
    explanation:
      "Authorization servers and OTLP collectors with protocol grpc, processors, limit services and endpoint pickers are called over gRPC. " +
      "gRPC stands on HTTP/2, and is spoken over nothing else.",
  }),
  "repeated-base-path": message<{
    base: string;
    path: string;
    repeated: string;
    field: string;
  }>({
    severity: "error",
    text: ({ base, path, repeated }) =>
      `requests would go to "${base}${path}": "${repeated}" stands there twice`,
    hint: ({ repeated, field }) => `take "${repeated}" out of \`${field}\``,
    explanation:
      "Paths of an API (a provider's, or the `pathOverride` in their place; `/v1/traces` of a collector) are put behind the path of the server's URL. Clients of OpenAI's API are given a base URL that ends in `/v1`; here the paths have it already.",
  }),
  "grpc-with-path": message<{ path: string; overHttp: string | undefined }>({
    severity: "error",
    text: ({ path }) => `this server speaks gRPC, which has no place for the path "${path}"`,
    hint: ({ overHttp }) =>
      overHttp === undefined ? "take it out" : `take it out, or send over HTTP (${overHttp})`,
    explanation:
      "The path of a call over gRPC is the name of its method, such as `/envoy.service.auth.v3.Authorization/Check`, and no other stands before it.",
  }),
  "mixed-passthrough": message<Record<never, never>>({
    severity: "error",
    text: () => "one backend of this route gets the client's token and another one does not",
    hint: () => "put backendAuth on the route, or the backends on routes of their own",
    explanation:
      "The token is put back before one of the backends is chosen. A backend that it is not meant for must not see it.",
  }),
  "open-proxy": message<{ route: string; names: boolean }>({
    severity: "error",
    text: ({ route }) => `whoever reaches the route "${route}" may reach any host through it`,
    hint: ({ names }) =>
      names
        ? "list its hostnames, or add authorization to its policies"
        : `add "authorization" to its policies, for example rules: ['request.host in ["api.example.com", "api.example.com:443"]']; the host of CONNECT has its port`,
    explanation:
      "A dynamic backend connects to the host that the client names. Without an `authorization` rule on its route the " +
      "gateway would be an open proxy. For TLS connections `hostnames` say the same: no other destination is reached. Addresses that are not public are refused in any case; `allowPrivate` opens some.",
  }),
  "dynamic-credential": message<Record<never, never>>({
    severity: "error",
    text: () => "the gateway's own credential would go to whatever host the client names",
    hint: () => "give the hosts that are meant a route and a host backend of their own",
    explanation:
      "A dynamic backend connects to the host that the client names: a client could have the key sent to a server of its " +
      "own. `passthrough` is possible, because the client's token is the client's to give.",
  }),
  "unknown-aws-scope": message<{ what: "region" | "service"; hint?: string }>({
    severity: "error",
    text: ({ what }) => `the host of this backend does not say which ${what} of AWS it is`,
    hint: ({ what, hint }) => hint ?? `add "${what}" to backendAuth.aws`,
    explanation:
      "A signed request is good for one service in one region. Hosts such as `SERVICE.REGION.amazonaws.com` name both; for " +
      "another host, or one that is only known when the gateway starts, `region` and `service` say it.",
  }),
  "misplaced-field": message<{ field: string; actsOn: string; found: string | undefined }>({
    severity: "error",
    text: ({ field, actsOn, found }) =>
      found === undefined
        ? `${field} acts on ${actsOn}, and here are none`
        : `${field} acts on ${actsOn}, and here ${found === "one" ? "is" : "are"} only ${found}`,
    hint: ({ found }) =>
      found === "connections"
        ? "use a listener with protocol: HTTP or HTTPS, or remove it"
        : "remove it, or move it to where they are",
    explanation:
      "Each section acts on something: requests, the messages of MCP, how a backend is connected to. Where there is none of " +
      "it the section would be a promise that nobody keeps. A route that answers by itself calls no backend; an MCP endpoint " +
      "speaks to its servers by itself, so one request of a client may become several or none; a session of Realtime goes on " +
      "while it is open, so it is no call, and models are listed by the gateway itself; a child process is not " +
      "connected to; the bytes of TCP and TLS routes are passed on as they come, so only who may connect (`authorization` over " +
      "`source`) and how the backend is reached (`tcp`, `backendTLS`) can be decided. What stands on a Gateway or a whole " +
      "route holds where it can act, and is told when that is nowhere.",
  }),
  "not-for-calls": message<{ field: string; user: string }>({
    severity: "warning",
    text: ({ field, user }) => `${field} does not act on the calls of ${user} to this server`,
    hint: () => "what has to hold for them, too, the server itself has to do",
    explanation:
      "A server may get requests of clients and calls that the gateway makes by itself: for authorization, limits, processing, " +
      "guards, keys, copies of requests and traces. How it is reached (`tcp`, `tls`, `http`, `auth`, `tunnel`) and the headers that " +
      "requests to it get hold for both. Health, rules and transformations are about requests of clients.",
  }),
  "wrong-routes": message<{ field: string; protocol: string; instead: string }>({
    severity: "error",
    text: ({ field, protocol }) => `a listener with protocol: ${protocol} has no "${field}"`,
    hint: ({ instead }) => `write them under "${instead}"`,
    explanation:
      "Listeners of HTTP and HTTPS response requests, by `routes`. Listeners of TCP and TLS pass connections on, by `tcpRoutes`.",
  }),
  "name-without-tls": message<Record<never, never>>({
    severity: "error",
    text: () => "a TCP connection names no host, so this would never be compared with anything",
    hint: () => "set protocol: TLS, or remove the host name",
    explanation:
      "Only TLS says whom a client wants to reach (SNI, RFC 6066). Without TLS every connection of a port goes one way.",
  }),
  "https-passthrough": message<Record<never, never>>({
    severity: "error",
    text: () => "an HTTPS listener can't pass TLS on: it would see no requests",
    hint: () => "set protocol: TLS, and attach a TLSRoute",
    explanation:
      "HTTPS is answered by routes of requests, so the gateway has to end TLS. Connections whose TLS goes on to the backend " +
      "belong to a listener of TLS (Gateway API, `tls.mode: Passthrough`).",
  }),
  "log-of-requests": message<Record<never, never>>({
    severity: "warning",
    text: () => "lines of TCP and TLS connections are not filtered, and have no added fields",
    explanation:
      "Filters and fields of the access log are expressions over a request and its response. A connection whose bytes are passed " +
      "on has neither: each has its line, with the usual fields of connections less those that `remove` names.",
  }),
  "no-destination": message<Record<never, never>>({
    severity: "error",
    text: () => "a TCP connection names no host that a dynamic backend could connect to",
    hint: () => "set protocol: TLS: the server name is the destination then",
    explanation:
      "A dynamic backend takes its destination from the client: from Host of a request, from the server name (SNI) of a TLS " +
      "connection. A TCP connection has neither.",
  }),
  "needs-source": message<{ variable: string; isOfPolicy?: boolean }>({
    severity: "error",
    text: ({ variable }) => `"${variable}" is not known of a connection: only "source" is`,
    hint: ({ isOfPolicy }) =>
      isOfPolicy === true
        ? "a policy of a Gateway also holds for its TCP and TLS listeners: add the sectionName of an HTTP listener to the targetRef, or target the routes"
        : undefined,
    explanation:
      "A rule about a connection is decided before anything of what it carries is read. It can ask where the connection " +
      "comes from: `source.address`, `source.port`; those of `networkAuthorization` also what a client certificate says, where " +
      "TLS ends here. Which server it wants is what `hostnames` decide.",
  }),
  "unpinned-package": message<{ name: string; stem: string }>({
    severity: "note",
    text: ({ name }) =>
      `"${name}" is fetched in whatever version is the newest when the server starts`,
    hint: ({ stem }) => `name the version: ${stem}@1.2.3`,
    explanation:
      "A runner such as npx or uvx fetches a package when a session begins. Without a version another release, reviewed by " +
      "nobody here, may run tomorrow with the rights of the gateway.",
  }),
  "not-in-image": message<{ what: string }>({
    severity: "warning",
    text: ({ what }) => `the image of the generated Dockerfile has no "${what}"`,
    hint: () => "build an image FROM it that has; in this one the server does not start",
    explanation:
      "The image has Node.js with npm and npx, and where a server needs them Python and uv. Other commands and files are " +
      "not in it: a Dockerfile of your own may begin with the image that gwc's builds, and add them. `gwc run` and " +
      "`node gateway.mjs` use the commands of the machine.",
  }),
};
