import { message } from "./message.ts";

/** Listeners, routes and backends that do not fit together. */
export const routingMessages = {
  "port-taken": message<{ port: number; by: string }>({
    severity: "error",
    text: ({ port, by }) => `port ${port} is taken by ${by}`,
    explanation:
      "A port can be opened once. Listeners that share a port stand under one bind; metrics and readiness have ports of " +
      "their own (`config.statsAddr`, `config.readinessAddr`).",
  }),
  "listener-conflict": message<{ hostname: string; port: number }>({
    severity: "error",
    text: ({ hostname, port }) =>
      hostname === "*"
        ? `two listeners of port ${port} answer every host name`
        : `two listeners of port ${port} answer "${hostname}"`,
    hint: () => "give each its own hostname, or merge their routes",
    explanation:
      "The listener of a connection is chosen by host name, so each host name has one listener on a port.",
  }),
  "protocol-conflict": message<{ port: number }>({
    severity: "error",
    text: ({ port }) => `the listeners of port ${port} speak different protocols`,
    explanation:
      "A port speaks HTTP, TCP or TLS: one of them for all of its connections. HTTPS, TLS that ends here and TLS that is " +
      "passed on may share a port: the most specific hostname that fits the server name decides.",
  }),
  "tls-missing": message<{ listener: string; protocol: string }>({
    severity: "error",
    text: ({ listener, protocol }) => `the ${protocol} listener "${listener}" has no certificate`,
    hint: ({ protocol }) =>
      protocol === "TLS"
        ? "add tls.certificateRefs, or tls.mode: Passthrough"
        : "add tls: {cert: PATH, key: PATH}",
    explanation:
      "TLS that ends here needs `tls` with a certificate and its key. TLS listeners of a Gateway may pass it on instead " +
      "(`mode: Passthrough`); those of a file do so when they have no `tls`.",
  }),
  "tls-unused": message<{ listener: string; protocol: string }>({
    severity: "error",
    text: ({ listener, protocol }) =>
      `the listener "${listener}" has a certificate but speaks plain ${protocol}`,
    hint: ({ protocol }) => `set protocol: ${protocol === "TCP" ? "TLS" : "HTTPS"}`,
    explanation:
      "A certificate on a listener that never uses it would look like protection and be none.",
  }),
  "hostname-mismatch": message<{ hostname: string; listener: string }>({
    severity: "error",
    text: ({ hostname, listener }) =>
      `the listener answers "${listener}", so "${hostname}" never reaches this route`,
    explanation:
      "A route's hostnames must lie within its listener's hostname (Gateway API, hostname intersection).",
  }),
  "unreachable-route": message<{ route: string; by: string }>({
    severity: "error",
    text: ({ route, by }) =>
      `the route "${route}" is never chosen: "${by}" answers every request that it matches`,
    hint: () => "make its match more specific, or remove it",
    explanation:
      "Of two routes that match the same requests only the first is ever chosen (precedence: host name, exact path, " +
      "longest prefix, regex, method, headers, query, order in the file). A route that is never chosen enforces nothing.",
  }),
  "shadowed-route": message<{ route: string; by: string }>({
    severity: "warning",
    text: ({ route, by }) =>
      `"${route}" is never chosen on this listener: "${by}" answers every request that it matches`,
    hint: () => "make its match more specific, or remove it",
    explanation:
      "Of two routes of a Gateway that match the same requests the more specific one is chosen, then the older one, then " +
      "the first by namespace and name (Gateway API). They may belong to different people, and one route may attach to " +
      "several listeners, so this is no mistake of the one or the other.",
  }),
  "unreachable-match": message<{ by: string }>({
    severity: "warning",
    text: ({ by }) => `this match never decides: "${by}" answers every request that it matches`,
    explanation:
      "An earlier match covers this one completely. The route is still reached through its other matches.",
  }),
  "path-never-sent": message<{ path: string; form: string | undefined }>({
    severity: "error",
    text: ({ path }) => `no request has the path "${path}" when it is matched`,
    hint: ({ form }) =>
      form === undefined
        ? "requests whose paths could be read in two ways are answered 400"
        : `write "${form}", which is what requests for it are brought to`,
    explanation:
      "The path of a request is brought to one form before anything reads it: encodings of letters, digits and `-._~` are " +
      "decoded, other encodings are in upper case, spaces and what is beyond ASCII are encoded, repeated slashes are one, `.` and `..` segments are resolved. That form " +
      "is matched, shown to rules, logged and forwarded. A match has to be written in it.",
  }),
  "query-in-path": message<{ path: string; ahead: string }>({
    severity: "error",
    text: ({ path }) => `no request has the path "${path}": a query is no part of a path`,
    hint: ({ ahead }) =>
      `write "${ahead}", and what the query holds in the match's own list for it`,
    explanation:
      "The path of a request ends before its `?`. Parameters of the query are matched by `query` (`queryParams` in manifests).",
  }),
  "no-path-matches": message<Record<never, never>>({
    severity: "error",
    text: () => 'no path matches this pattern: paths begin with "/", and are matched as a whole',
    hint: () => 'begin it with "/", or with ".*" for whatever stands before',
    explanation:
      "A `regex` of a path has to match all of it, from its first slash to its end. `admin` matches the text `admin` alone, which is no path; `.*/admin` matches every path that ends so.",
  }),
  "star-in-path": message<{ path: string }>({
    severity: "warning",
    text: ({ path }) => `"${path}" matches a star in the path, nothing else`,
    hint: ({ path }) =>
      `a pathPrefix matches whatever is below it: write pathPrefix: ${path.replace(/\/\*+$/, "") || "/"}`,
    explanation:
      "`exact` and `pathPrefix` are texts: a star in them is the character itself. A prefix matches its own path and every " +
      "path below it, by whole segments; `regex` takes patterns.",
  }),
  "query-in-host": message<{ host: string }>({
    severity: "error",
    text: ({ host }) => `"${host}" has a query, which no request would carry`,
    hint: () => "set it by urlRewrite or a transformation of :path, or leave it out",
    explanation:
      "Requests are passed on with their own path and query. The path of a backend's URL is put before theirs; a query " +
      "could only be added to one that the client chose.",
  }),
  "repeated-condition": message<{ what: string; name: string }>({
    severity: "warning",
    text: ({ what, name }) => `an earlier condition on the ${what} "${name}" counts, not this one`,
    hint: () => "say it in one condition, or in a match of its own",
    explanation:
      "Gateway API: of several conditions of one match on the same header or query parameter only the first one counts. " +
      "Header names are the same in any case of their letters.",
  }),
  "own-port": message<{ host: string }>({
    severity: "error",
    text: ({ host }) => `${host} is the gateway's own page, not a server`,
    hint: () => "name the server that is meant; another server here needs another port",
    explanation:
      "The admin page (15000), the metrics (15020) and the readiness (15021) of a gateway are for the machine or the pod that it " +
      "runs on. A backend that leads there would show them to every client, and in a shared cluster to other tenants.",
  }),
  "tls-to-socket": message<{ host: string }>({
    severity: "error",
    text: ({ host }) => `"${host}" is a Unix socket, and would be reached over TLS`,
    hint: () => "take `backendTLS` out: what passes a socket does not leave the machine",
    explanation:
      "A certificate says which host a server is, and a socket of the machine has no name to hold it against. Who may listen on its path is a matter of the file system.",
  }),
  "route-without-backend": message<{ route: string }>({
    severity: "error",
    text: ({ route }) => `the route "${route}" has no backend`,
    hint: () => "add backends: [{mcp: ...}] or backends: [{host: HOST:PORT}]",
    explanation: "Every request of the route would fail: nothing answers it.",
  }),
  "rule-without-backend": message<{ route: string }>({
    severity: "warning",
    text: ({ route }) => `the rule "${route}" has no backend: every request of it gets 500`,
    hint: () => "name one in `backendRefs`, or give the rule a filter that responds",
    explanation:
      "Gateway API lets a rule stand without backends, and says what becomes of its requests: a 500. That is rarely what is meant.",
  }),
  "never-reached": message<{ what: string; by: string }>({
    severity: "warning",
    text: ({ what, by }) => `${what} is never reached: "${by}" answers every request of this route`,
    hint: () => "remove one of the two",
    explanation:
      "Redirects and direct responses answer by themselves. What comes after them in the request order, and the backend, " +
      "is left out of the gateway.",
  }),
  "several-backends": message<{ kind: string }>({
    severity: "error",
    text: ({ kind }) => {
      const article = /^[aeim]/.test(kind) ? "an" : "a";
      return `${article} ${kind} backend can't share a route with other backends`;
    },
    explanation:
      "Requests are shared by weight between plain HTTP backends and MCP backends, which know the sessions that they have opened. " +
      "A dynamic backend goes where the request says, and models have groups and weights of their own.",
  }),
  "not-for-all-backends": message<{ field: string; actsOn: string }>({
    severity: "error",
    text: ({ field, actsOn }) =>
      `"${field}" would not hold for this backend, which gets a share of the route's requests: it acts on ${actsOn}`,
    hint: () => "give the backend a route of its own, or leave the policy out",
    explanation:
      "Backends of several kinds share the requests of a route by weight. What a policy of the route says has to hold for all of " +
      "them, or clients would only have to ask often enough to get past it.",
  }),
  "backends-differ": message<{ field: string; name: string | undefined }>({
    severity: "error",
    text: ({ field, name }) =>
      name === undefined
        ? `"${field}" of this backend is not that of the others that share its rule`
        : `"${field}" of the target "${name}" is not that of the target with this name behind the same rule`,
    hint: ({ name }) =>
      name === undefined
        ? "say it once, on the route"
        : "give the targets different names, or the same rules",
    explanation:
      "Requests of a rule are shared by weight. A client is asked for its token before it is known which backend serves it, and " +
      "rules know the servers by their targets' names.",
  }),
  "no-weight": message<{ outcome: string }>({
    severity: "warning",
    text: ({ outcome }) => `no backend of this route has a weight above zero: ${outcome}`,
    hint: () => "give one of them a weight",
    explanation:
      "Weights are shares of the requests. Without any there is nobody to pass them on to (Gateway API).",
  }),
  "duplicate-backend": message<{ name: string }>({
    severity: "error",
    text: ({ name }) => `two backends are called "${name}"`,
    explanation: "A backend's name is how routes mean it, so it is unique in the file.",
  }),
  "duplicate-group": message<{ name: string }>({
    severity: "error",
    text: ({ name }) => `two route groups are called "${name}"`,
    explanation: "A group's name is how routes mean it, so it is unique in the file.",
  }),
  "group-circle": message<{ way: readonly string[] }>({
    severity: "error",
    text: ({ way }) => `a route group comes back to itself: ${way.join(" -> ")}`,
    hint: () => "let the last of them lead to a backend",
    explanation:
      "A route of a group may delegate to another group, but the way has to end: nothing else would answer its requests.",
  }),
  "group-beside-others": message<Record<never, never>>({
    severity: "error",
    text: () => "a route group stands beside other backends, or with a weight or policies",
    hint: () => "give the route this group alone, and put policies on the route",
    explanation:
      "A route that delegates hands all of its requests to the routes of the group: each of those has its own backends.",
  }),
  "unused-group": message<{ name: string }>({
    severity: "warning",
    text: ({ name }) => `no route delegates to the group "${name}"`,
    hint: ({ name }) => `name it in a route: backends: [{ routeGroup: ${name} }]`,
    explanation: "The routes of a group answer only what another route hands to them.",
  }),
  "unused-service": message<{ name: string }>({
    severity: "warning",
    text: ({ name }) => `no backend means the service "${name}"`,
    hint: ({ name }) => `name it in a backend: service: { name: NAMESPACE/${name}, port: PORT }`,
    explanation: "A service by itself opens and connects nothing.",
  }),
  "undelegated-route": message<{ group: string }>({
    severity: "error",
    text: ({ group }) => `no request that comes to the group "${group}" is one of this route`,
    hint: () => "write the whole path, that of the route which delegates included",
    explanation:
      "A route of a group answers the requests that it and the route before it both match. Its path is held against the whole path of a request. Conditions of both on one header or query parameter have to be the same.",
  }),
  "overtaking-route": message<{ by: string }>({
    severity: "error",
    text: ({ by }) =>
      `"${by}" should get some of the requests that this match of a group's route would take`,
    hint: () => "move that route into the group, or narrow the route that delegates",
    explanation:
      "The routes of a listener decide first, and the routes of a group only about what their own route got. gwc writes one table for both, in which this match would come before a route that is more specific than the one that delegates.",
  }),
  "duplicate-target": message<{ name: string }>({
    severity: "error",
    text: ({ name }) => `two targets are called "${name}"`,
    explanation:
      "A target's name is the prefix of its tools and names it in rules, so it is unique within its backend.",
  }),
  "command-line": message<{ command: string }>({
    severity: "error",
    text: () => "`cmd` is the command alone, and this is a whole command line",
    hint: ({ command }) => `write cmd: ${command}, and each other word as an item of \`args\``,
    explanation:
      "A server over stdio is started without a shell: `cmd` is looked for on PATH as it stands, and every item of `args` " +
      "is one argument, whatever spaces, quotes or `&&` it holds.",
  }),
};
