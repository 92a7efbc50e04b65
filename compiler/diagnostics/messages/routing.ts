import { message } from "./message.ts";

/** Diagnostics about conflicts among listeners, routes and backends. */
export const routingMessages = {
  "internal-port": message<{ port: number }>({
    severity: "error",
    text: ({ port }) => `the annotation "internal-ports" closes port ${port} to clients`,
    hint: () =>
      "remove the annotation to open the port, or let clients open tunnels to a `dynamic` backend with `connect: {}`",
    explanation:
      "agentgateway does not open ports of this annotation: only tunnels that it decrypts reach them. gwc decrypts no " +
      "tunnels, so this listener is not served.",
  }),
  "port-taken": message<{ port: number; by: string }>({
    severity: "error",
    text: ({ port, by }) => `port ${port} is taken by ${by}`,
    explanation:
      "A port can be opened once. Listeners that share a port belong to one bind; metrics and readiness have their own " +
      "ports (`config.statsAddr`, `config.readinessAddr`).",
  }),
  "listener-conflict": message<{ hostname: string; port: number }>({
    severity: "error",
    text: ({ hostname, port }) =>
      hostname === "*"
        ? `two listeners on port ${port} match every hostname`
        : `two listeners on port ${port} match "${hostname}"`,
    hint: () => "give each its own hostname, or merge their routes",
    explanation:
      "The listener of a connection is selected by hostname, so each hostname has one listener on a port.",
  }),
  "protocol-conflict": message<{ port: number }>({
    severity: "error",
    text: ({ port }) => `the listeners on port ${port} have different protocols`,
    explanation:
      "All connections to a port use one protocol: HTTP, TCP or TLS. HTTPS, terminated TLS and passed-through TLS can " +
      "share a port: the listener with the most specific hostname that matches the server name is selected.",
  }),
  "tls-missing": message<{ listener: string; protocol: string }>({
    severity: "error",
    text: ({ listener, protocol }) => `the ${protocol} listener "${listener}" has no certificate`,
    hint: ({ protocol }) =>
      protocol === "TLS"
        ? "add tls.certificateRefs, or tls.mode: Passthrough"
        : "add tls: {cert: PATH, key: PATH}",
    explanation:
      "TLS termination needs `tls` with a certificate and its key. TLS listeners of a Gateway can pass connections " +
      "through instead (`mode: Passthrough`); those of a file do so if they have no `tls`.",
  }),
  "tls-unused": message<{ listener: string; protocol: string }>({
    severity: "error",
    text: ({ listener, protocol }) =>
      `the listener "${listener}" has a certificate but speaks plain ${protocol}`,
    hint: ({ protocol }) => `set protocol: ${protocol === "TCP" ? "TLS" : "HTTPS"}`,
    explanation:
      "A certificate on a listener that never uses it looks like protection but has no effect.",
  }),
  "hostname-mismatch": message<{ hostname: string; listener: string }>({
    severity: "error",
    text: ({ hostname, listener }) =>
      `the listener matches "${listener}", so requests for "${hostname}" never reach this route`,
    explanation:
      "The hostnames of a route must be within the hostname of its listener (Gateway API, hostname intersection).",
  }),
  "unreachable-route": message<{ route: string; by: string }>({
    severity: "error",
    text: ({ route, by }) =>
      `the route "${route}" is never chosen: ${route === by ? "the one before it" : `"${by}"`} handles every request that it matches`,
    hint: () => "make its match more specific, or remove it",
    explanation:
      "If two routes match the same requests, only the first is ever chosen (precedence: hostname, exact path, longest " +
      "prefix, regex, method, headers, query, order in the file). A route that is never chosen enforces nothing.",
  }),
  "pattern-after-prefix": message<{ by: string; prefix: string }>({
    severity: "warning",
    text: ({ by, prefix }) =>
      `requests below "${prefix}" that match this pattern are handled by "${by}"`,
    hint: ({ by }) => `write a longer prefix instead of the pattern, or a rule in "${by}"`,
    explanation:
      "Prefixes precede patterns, whatever their length (precedence: hostname, exact path, longest prefix, regex, method, " +
      "headers, query, order in the file). agentgateway compares the lengths of both, so it would choose the pattern. A " +
      "route that refuses requests by a pattern refuses none of these here.",
  }),
  "shadowed-route": message<{ route: string; by: string }>({
    severity: "warning",
    text: ({ route, by }) =>
      `"${route}" is never chosen on this listener: "${by}" handles every request that it matches`,
    hint: () => "make its match more specific, or remove it",
    explanation:
      "If two routes of a Gateway match the same requests, the more specific one is chosen, then the older one, then " +
      "the first by namespace and name (Gateway API). The routes may have different owners, and a route may attach to " +
      "several listeners, so this is a warning, not an error.",
  }),
  "unreachable-match": message<{ by: string }>({
    severity: "warning",
    text: ({ by }) => `this match is never used: "${by}" handles every request that it matches`,
    explanation:
      "An earlier match covers this one completely. The route is still reached through its other matches.",
  }),
  "path-never-sent": message<{ path: string; form: string | undefined }>({
    severity: "error",
    text: ({ path }) => `no request matches the path "${path}": paths are normalized first`,
    hint: ({ form }) =>
      form === undefined
        ? "requests with ambiguous paths are answered with 400"
        : `write "${form}", its normalized form`,
    explanation:
      "Request paths are normalized before they are matched: encoded letters, digits and `-._~` are decoded; other " +
      "encodings are upper-cased; spaces and non-ASCII characters are encoded; repeated slashes are merged; `.` and " +
      "`..` segments are resolved. Matches, rules, logs and backends all use the normalized path, so a match must be " +
      "written in that form.",
  }),
  "query-in-path": message<{ path: string; ahead: string }>({
    severity: "error",
    text: ({ path }) => `no request matches the path "${path}": a query is not part of a path`,
    hint: ({ ahead }) => `write "${ahead}", and match the query parameters with "query"`,
    explanation:
      "The path of a request ends before its `?`. Query parameters are matched by `query` (`queryParams` in " +
      "manifests).",
  }),
  "no-path-matches": message<Record<never, never>>({
    severity: "error",
    text: () => 'no path matches this pattern: paths begin with "/", and are matched as a whole',
    hint: () => 'begin it with "/", or with ".*" to match any prefix',
    explanation:
      "A path `regex` must match the whole path, from its first slash to its end. `admin` matches only the string " +
      "`admin`, which is not a path; `.*/admin` matches every path that ends with it.",
  }),
  "star-in-path": message<{ path: string }>({
    severity: "warning",
    text: ({ path }) => `"${path}" matches only a literal star in the path`,
    hint: ({ path }) =>
      `a pathPrefix matches all paths below it: write pathPrefix: ${path.replace(/\/\*+$/, "") || "/"}`,
    explanation:
      "`exact` and `pathPrefix` are literal strings: a star in them is a star. A prefix matches its own path and every " +
      "path below it, by whole segments; use `regex` for patterns.",
  }),
  "query-in-host": message<{ host: string }>({
    severity: "error",
    text: ({ host }) => `"${host}" has a query, which would not be sent with any request`,
    hint: () => "set it with urlRewrite or a transformation of :path, or remove it",
    explanation:
      "Requests are forwarded with their own path and query. The path of a backend URL is prepended to the request " +
      "path; a query could only be merged with the query that the client sent.",
  }),
  "repeated-condition": message<{ what: string; name: string }>({
    severity: "warning",
    text: ({ what, name }) =>
      `this condition is ignored: an earlier one on the ${what} "${name}" is used`,
    hint: () => "combine them in one condition, or use a separate match",
    explanation:
      "Gateway API: if a match has several conditions on the same header or query parameter, only the first one is " +
      "used. Header names are case-insensitive.",
  }),
  "own-port": message<{ host: string }>({
    severity: "error",
    text: ({ host }) => `${host} is a port of the gateway itself, not a backend`,
    hint: () =>
      "give the address of the intended server; another server on this machine needs another port",
    explanation:
      "The admin page (15000), metrics (15020) and readiness (15021) of a gateway are for the machine or pod that it " +
      "runs on. A backend with one of these addresses would expose them to every client, and in a shared cluster to " +
      "other tenants. A route may protect the admin page of `gwc run` (guide admin): move the page to another port with " +
      "`config.adminAddr`.",
  }),
  "tls-to-socket": message<{ host: string }>({
    severity: "error",
    text: ({ host }) => `"${host}" is a Unix socket, which cannot be used with TLS`,
    hint: () => "remove `backendTLS`: traffic through a socket does not leave the machine",
    explanation:
      "A certificate proves the hostname of a server, and a Unix socket has no hostname. Access to a socket is " +
      "controlled by the permissions of its file.",
  }),
  "route-without-backend": message<{ route: string }>({
    severity: "error",
    text: ({ route }) => `the route "${route}" has no backend`,
    hint: () => "add backends: [{mcp: ...}] or backends: [{host: HOST:PORT}]",
    explanation: "Every request on the route would fail.",
  }),
  "rule-without-backend": message<{ route: string }>({
    severity: "warning",
    text: ({ route }) => `the rule "${route}" has no backend: its requests are answered with 500`,
    hint: () => "add one to `backendRefs`, or add a filter that responds",
    explanation:
      "Gateway API allows a rule without backends and requires that its requests are answered with 500. This is rarely " +
      "intended.",
  }),
  "never-reached": message<{ what: string; by: string }>({
    severity: "warning",
    text: ({ what, by }) => `${what} is never reached: "${by}" answers every request on this route`,
    hint: () => "remove one of the two",
    explanation:
      "Redirects and direct responses answer requests themselves. Policies that would run after them, and the backend, " +
      "are omitted from the gateway.",
  }),
  "several-backends": message<{ kind: string }>({
    severity: "error",
    text: ({ kind }) => {
      const article = /^[aeim]/.test(kind) ? "an" : "a";
      return `${article} ${kind} backend can't share a route with other backends`;
    },
    explanation:
      "Requests are distributed by weight between plain HTTP backends and MCP backends, which recognize their own " +
      "sessions. A dynamic backend connects to the host in the request, and ai backends have their own groups and " +
      "weights.",
  }),
  "not-for-all-backends": message<{ field: string; actsOn: string }>({
    severity: "error",
    text: ({ field, actsOn }) =>
      `"${field}" would not apply to this backend, which gets a share of the route's requests: it only applies to ${actsOn}`,
    hint: () => "move the backend to its own route, or remove the policy",
    explanation:
      "Backends of several kinds share the requests of a route by weight. A policy of the route must apply to all of " +
      "them: otherwise clients could bypass it by repeating the request.",
  }),
  "not-of-share": message<Record<never, never>>({
    severity: "error",
    text: () =>
      '"extAuthz" of a backend that gets only a share of the route\'s requests is not supported',
    hint: () => "set it on the route, or move the backend to its own route",
    explanation:
      "The authorization server of a backend is asked before a backend is chosen. All backends of the route must have the same one.",
  }),
  "backends-differ": message<{ field: string; name: string | undefined }>({
    severity: "error",
    text: ({ field, name }) =>
      name === undefined
        ? `"${field}" of this backend differs from that of the other backends in its rule`
        : `"${field}" of the target "${name}" differs from that of another target with this name in the same rule`,
    hint: ({ name }) =>
      name === undefined
        ? "configure it once, on the route"
        : "give the targets different names, or the same rules",
    explanation:
      "Requests of a rule are distributed by weight. The client is asked for its token before a backend is chosen, and " +
      "rules identify servers by the names of their targets.",
  }),
  "no-weight": message<{ outcome: string }>({
    severity: "warning",
    text: ({ outcome }) => `no backend on this route has a weight above zero: ${outcome}`,
    hint: () => "give one of them a weight",
    explanation:
      "Weights are shares of the requests. If all are zero, no backend receives any (Gateway API).",
  }),
  "no-targets": message<Record<never, never>>({
    severity: "warning",
    text: () => "there is no MCP server here: every request is answered 500",
    hint: () => "add a server to `targets`: { name: tools, mcp: { host: URL } }",
    explanation:
      "The list `targets` is empty, as in a file whose servers are added later. Requests are refused until it has one.",
  }),
  "no-ports": message<Record<never, never>>({
    severity: "warning",
    text: () => "there is no port here: the gateway takes no requests",
    hint: () => "add one to `binds`: { port: 3000, listeners: [...] }",
    explanation:
      "The list `binds` is empty, as in a file whose ports are added later. Only metrics and readiness are served until it has one.",
  }),
  "duplicate-backend": message<{ name: string }>({
    severity: "error",
    text: ({ name }) => `two backends are named "${name}"`,
    explanation: "Routes refer to a backend by its name, so the name must be unique in the file.",
  }),
  "duplicate-group": message<{ name: string }>({
    severity: "error",
    text: ({ name }) => `two route groups are named "${name}"`,
    explanation: "Routes refer to a group by its name, so the name must be unique in the file.",
  }),
  "duplicate-listener": message<{ name: string }>({
    severity: "error",
    text: ({ name }) => `two listeners are named "${name}"`,
    explanation:
      "Routes refer to a listener by its name, so the name must be unique in its gateway.",
  }),
  "no-default-gateway": message<{ candidates: readonly string[] }>({
    severity: "error",
    text: () => 'this is attached to no gateway: there is none named "default"',
    hint: ({ candidates }) =>
      candidates.length === 0
        ? "add one: gateways: { default: { port: 3000 } }"
        : `write gateways: NAME; there is ${candidates.slice(0, 5).join(", ")}`,
    explanation:
      "Routes of the file serve the requests of the gateways that they name with `gateways`, or of the one named " +
      "`default`.",
  }),
  "wrong-gateway": message<{ reference: string; protocol: string; form: "HTTP" | "TCP" }>({
    severity: "error",
    text: ({ reference, protocol, form }) =>
      `the gateway "${reference}" has protocol: ${protocol}, which takes no ${form} routes`,
    hint: ({ form }) =>
      form === "HTTP"
        ? "use `tcpRoutes` for it, or name a gateway with protocol: HTTP or HTTPS"
        : "use `routes` for it, or set protocol: TCP or TLS",
    explanation:
      "HTTP and HTTPS gateways handle requests with `routes`, `llm` and `mcp`. TCP and TLS gateways forward " +
      "connections with `tcpRoutes`.",
  }),
  "unused-gateway": message<{ reference: string }>({
    severity: "warning",
    text: ({ reference }) => `nothing is attached to the gateway "${reference}"`,
    hint: ({ reference }) => `write gateways: ${reference} in a route, or remove it`,
    explanation:
      "The port is opened, but no request on it has a route: each one is answered with 404, and connections of TCP " +
      "and TLS gateways are closed.",
  }),
  "group-circle": message<{ way: readonly string[] }>({
    severity: "error",
    text: ({ way }) => `route groups form a circle: ${way.join(" -> ")}`,
    hint: () => "route the last one to a backend",
    explanation:
      "A route in a group may delegate to another group, but the chain must end at a backend.",
  }),
  "group-beside-others": message<Record<never, never>>({
    severity: "error",
    text: () => "a route group cannot be combined with other backends, a weight or policies",
    hint: () => "make the group the only backend of the route, and put policies on the route",
    explanation:
      "A delegating route passes all of its requests to the routes of the group, which have their own backends.",
  }),
  "unused-group": message<{ name: string }>({
    severity: "warning",
    text: ({ name }) => `no route delegates to the group "${name}"`,
    hint: ({ name }) => `use it in a route: backends: [{ routeGroup: ${name} }]`,
    explanation: "The routes of a group only handle requests that another route delegates to it.",
  }),
  "unused-service": message<{ name: string }>({
    severity: "warning",
    text: ({ name }) => `no backend uses the service "${name}"`,
    hint: ({ name }) => `use it in a backend: service: { name: NAMESPACE/${name}, port: PORT }`,
    explanation: "A service has no effect until a backend uses it.",
  }),
  "undelegated-route": message<{ group: string }>({
    severity: "error",
    text: ({ group }) => `no request that reaches the group "${group}" matches this route`,
    hint: () => "write the whole path, including that of the delegating route",
    explanation:
      "A route in a group handles the requests that match both it and the delegating route. Its path is compared with " +
      "the whole path of a request. If both have a condition on the same header or query parameter, the conditions " +
      "must be equal.",
  }),
  "overtaking-route": message<{ by: string }>({
    severity: "error",
    text: ({ by }) => `this match would take requests from the more specific route "${by}"`,
    hint: () => "move that route into the group, or narrow the delegating route",
    explanation:
      "The routes of a listener are matched first; the routes of a group only see the requests of the delegating " +
      "route. gwc compiles both into one table, in which this match would come before a route that is more specific " +
      "than the delegating route.",
  }),
  "duplicate-target": message<{ name: string }>({
    severity: "error",
    text: ({ name }) => `two targets are named "${name}"`,
    explanation:
      "The name of a target is the prefix of its tools and identifies it in rules, so it must be unique within its " +
      "backend.",
  }),
  "shared-item-name": message<{ item: string; owner: string }>({
    severity: "warning",
    text: ({ item, owner }) =>
      `clients do not see the ${item} of this target, but that of "${owner}"`,
    hint: () =>
      "rename it at the server, hide one by mcpAuthorization, or use prefixMode: conditional",
    explanation:
      "With `prefixMode: never`, names of tools and prompts do not contain their target. If several targets have an item " +
      "of the same name, it belongs to the first of them whose item the caller may use. Known before the gateway runs are " +
      "the tools of OpenAPI documents and the items of a tool lock; for others, the gateway warns when it sees them.",
  }),
  "command-line": message<{ command: string }>({
    severity: "error",
    text: () => "`cmd` takes only the command, not a whole command line",
    hint: ({ command }) => `write cmd: ${command}, and every other word as an item of \`args\``,
    explanation:
      "A stdio server is started without a shell: `cmd` is looked up on PATH unchanged, and every item of `args` is " +
      "one argument, including any spaces, quotes or `&&` in it.",
  }),
};
