import { message } from "./message.ts";

/** Parts of a configuration that do not fit together. */
export const referenceMessages = {
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
      "A port speaks HTTP, HTTPS, TCP, or TLS that is ended here or passed on: one of them for all of its connections.",
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
  "mcp-prefixed-name": message<{ name: string; form: string }>({
    severity: "warning",
    text: ({ name }) => `rules see names without the target's prefix, so "${name}" is none`,
    hint: ({ form }) => `write \`${form}\``,
    explanation:
      "Where several MCP servers stand behind one endpoint, clients see the tool `add` of the target `math` as " +
      "`math_add`. Rules see what the target calls it, and the target beside it: `mcp.tool.name`, `mcp.tool.target`.",
  }),
  "mcp-unknown-target": message<{ name: string; suggestion: string }>({
    severity: "warning",
    text: ({ name }) => `no MCP target behind this route is called "${name}"`,
    hint: ({ suggestion }) => `did you mean "${suggestion}"?`,
    explanation:
      "`mcp.tool.target` is the name of a target of the route's backend. Compared with another name it is never equal.",
  }),
  "file-not-here": message<{ file: string; problem: string }>({
    severity: "warning",
    text: ({ file, problem }) =>
      `"${file}" will be read when the gateway starts, but here ${problem}`,
    explanation:
      "Certificates and keys are read where the gateway runs, relative to GWC_CONFIG_DIR or its working directory. This " +
      "is no error: the machine that compiles need not have them.",
  }),
  "unusable-pem": message<{ file: string; problem: string; hint: string }>({
    severity: "error",
    text: ({ file, problem }) => `"${file}" ${problem}`,
    hint: ({ hint }) => hint,
    explanation:
      "Certificates, private keys and authorities are PEM files: text between lines such as `-----BEGIN CERTIFICATE-----`. " +
      "A file that is here is read at once, because a gateway with one that it can't use does not start.",
  }),
  "other-key": message<{ cert: string; key: string }>({
    severity: "error",
    text: ({ cert, key }) => `"${key}" is not the private key of the certificate in "${cert}"`,
    hint: () => "name files of one pair; in a chain the server's own certificate comes first",
    explanation:
      "The first certificate of the file is the one that is shown, and only the key that it was made for can prove it.",
  }),
  "certificate-out-of-date": message<{ file: string; what: string }>({
    severity: "warning",
    text: ({ file, what }) => `the certificate in "${file}" ${what}`,
    hint: () => "renew it; the gateway takes a changed file without a restart",
    explanation:
      "Whoever checks the certificate refuses the connection. What is built does not depend on the date: only this is said.",
  }),
  "certificate-expires": message<{ file: string; time: string }>({
    severity: "note",
    text: ({ file, time }) => `the certificate in "${file}" expires soon, on ${time}`,
    explanation:
      "Told from two weeks before the end, as a reminder. It is a note, so that no build fails with `--strict` because a day has passed.",
  }),
  "path-elsewhere": message<{ file: string; beside: string }>({
    severity: "note",
    text: ({ file }) =>
      `"${file}" is not beside this file; the one in the working directory is taken`,
    hint: () => "write the path relative to this file, and it is found from everywhere",
    explanation:
      "Relative paths start at the file that names them. What is not there but below the working directory is taken from " +
      "there, as the reference does.",
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
  "verbatim-path-rule": message<{ listener: string }>({
    severity: "warning",
    text: ({ listener }) =>
      `this rule reads paths that the listener "${listener}" passes on as they were sent: a backend may read others`,
    hint: () =>
      "check that the backend resolves dots, slashes and encodings as gwc does, or rule on something else",
    explanation:
      "Routes and rules see a path in its one form: `/a/../admin` and `/%61dmin` are `/admin`. With `pathHandling: verbatim` " +
      "the backend gets what the client sent, with encoded slashes in it, and decides for itself what that means.",
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
      "decoded, other encodings are in upper case, repeated slashes are one, `.` and `..` segments are resolved. That form " +
      "is matched, shown to rules, logged and forwarded. A match has to be written in it.",
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
  "route-without-backend": message<{ route: string }>({
    severity: "error",
    text: ({ route }) => `the route "${route}" has no backend`,
    hint: () => "add backends: [{mcp: ...}] or backends: [{host: HOST:PORT}]",
    explanation: "Every request of the route would fail: nothing answers it.",
  }),
  "never-reached": message<{ what: string; by: string }>({
    severity: "warning",
    text: ({ what, by }) => `${what} is never reached: "${by}" answers every request of this route`,
    hint: () => "remove one of the two",
    explanation:
      "Redirects and direct responses answer by themselves. What comes after them in the request order, and the backend, " +
      "is left out of the gateway.",
  }),
  "health-reads": message<Record<never, never>>({
    severity: "error",
    text: () => "whether a provider is healthy is seen from the head of its response alone",
    hint: () => "read response.code or response.headers",
    explanation:
      "What holds for a provider holds for all requests: an expression about its health can't depend on who asks, and a " +
      "response is passed on before its body is there.",
  }),
  "head-only": message<Record<never, never>>({
    severity: "error",
    text: () => "whether to try again is decided before the body of a response is there",
    hint: () => "read response.code or response.headers",
    explanation:
      "A response is passed on as it arrives. Once a byte of it has reached the client there is no other attempt, so its " +
      "body can't be waited for.",
  }),
  "early-fallback": message<Record<never, never>>({
    severity: "error",
    text: () => "what follows this entry never acts: it has no condition",
    hint: () => "give it a condition, or move it to the end",
    explanation:
      "Of conditional entries the first one acts whose condition is true. One without a condition always does, so it is " +
      "the last.",
  }),
  "pseudo-header": message<{
    name: string;
    side: "request" | "response";
    known: readonly string[];
    isRemoved: boolean;
  }>({
    severity: "error",
    text: ({ name, side, known, isRemoved }) =>
      isRemoved && known.includes(name)
        ? `"${name}" can't be removed: every ${side} has one`
        : `a ${side} has no "${name}"`,
    hint: ({ known }) => `pseudo headers here are ${known.join(", ")}`,
    explanation:
      "Identifiers with a colon are the parts of a request's first line, and the status of a response (RFC 9113 8.3). Each message " +
      "has exactly one of each of its own.",
  }),
  "several-backends": message<{ kind: string }>({
    severity: "error",
    text: ({ kind }) => {
      const article = kind === "mcp" ? "an" : "a";
      return `${article} ${kind} backend can't share a route with other backends`;
    },
    hint: ({ kind }) =>
      kind === "mcp"
        ? "put several servers under one mcp backend: its targets are merged into one endpoint"
        : undefined,
    explanation:
      "Requests are shared between plain HTTP backends by weight. An MCP session lives on the servers where it began, and " +
      "a dynamic backend goes where the request says.",
  }),
  "no-weight": message<{ outcome: string }>({
    severity: "warning",
    text: ({ outcome }) => `no backend of this route has a weight above zero: ${outcome}`,
    hint: () => "give one of them a weight",
    explanation:
      "Weights are shares of the requests. Without any there is nobody to pass them on to (Gateway API).",
  }),
  "needs-host-backend": message<{ policy: string }>({
    severity: "error",
    text: ({ policy }) =>
      `"${policy}" acts on a plain HTTP backend, and this route has an mcp backend`,
    explanation:
      "An MCP endpoint speaks to its servers by itself: it keeps sessions and streams, and one request of a client can " +
      "become several or none. The policy is about one request that is passed on, so it would not be enforced.",
  }),
  "needs-prefix-match": message<{ field: string }>({
    severity: "error",
    text: ({ field }) => `${field} needs matches by pathPrefix only`,
    hint: () => "match by pathPrefix, or replace the whole path with `full`",
    explanation:
      "Replacing a prefix replaces the one that the route matched (Gateway API ReplacePrefixMatch). A path that was " +
      "matched exactly or by a pattern has none.",
  }),
  "duplicate-policy": message<{ first: string; second: string }>({
    severity: "error",
    text: ({ first, second }) => `"${first}" and "${second}" are two names of one policy`,
    hint: () => "keep one of them",
    explanation:
      "The file takes the names of the cluster resources too. A policy stands once on a route: which of two would be " +
      "enforced can't be seen.",
  }),
  "header-conflict": message<{ name: string }>({
    severity: "error",
    text: ({ name }) => `the header "${name}" is changed twice`,
    hint: () => "each name stands in one of set, add and remove (in any case of its letters)",
    explanation:
      "What the header would be depends on the order of the changes, so one name has one change.",
  }),
  "connection-header": message<{ name: string }>({
    severity: "error",
    text: ({ name }) => `"${name}" is not a policy's to change`,
    hint: ({ name }) => (name === "host" ? "use hostRewrite or urlRewrite.authority" : undefined),
    explanation:
      "Content-Length, Transfer-Encoding, Connection and their like belong to one connection: the gateway makes them for " +
      "each message (RFC 9110 7.6.1). Changing them would let two servers read one message differently. Host is rewritten " +
      "by hostRewrite and urlRewrite.",
  }),
  "body-not-allowed": message<{ status: number }>({
    severity: "error",
    text: ({ status }) => `a response with status ${status} has no body`,
    explanation: "RFC 9110 15.3.5 and 15.4.5: 204 and 304 end after the head.",
  }),
  "duplicate-backend": message<{ name: string }>({
    severity: "error",
    text: ({ name }) => `two backends are called "${name}"`,
    explanation: "A backend's name is how routes mean it, so it is unique in the file.",
  }),
  "command-line": message<{ command: string }>({
    severity: "error",
    text: () => "`cmd` is the command alone, and this is a whole command line",
    hint: ({ command }) => `write cmd: ${command}, and each other word as an item of \`args\``,
    explanation:
      "A server over stdio is started without a shell: `cmd` is looked for on PATH as it stands, and every item of `args` " +
      "is one argument, whatever spaces, quotes or `&&` it holds.",
  }),
  "duplicate-target": message<{ name: string }>({
    severity: "error",
    text: ({ name }) => `two targets are called "${name}"`,
    explanation:
      "A target's name is the prefix of its tools and names it in rules, so it is unique within its backend.",
  }),
  "two-token-checks": message<Record<never, never>>({
    severity: "error",
    text: () => '"jwtAuth" and "mcpAuthentication" both check the bearer token of this route',
    hint: () => 'keep "mcpAuthentication": it checks tokens and also serves the OAuth metadata',
    explanation:
      "The first check takes the token out of the request, so the second would refuse every request. " +
      "`mcpAuthentication` is `jwtAuth` plus the metadata endpoints that MCP clients look for.",
  }),
  "bad-openapi": message<{ problem: string }>({
    severity: "error",
    text: ({ problem }) => `the OpenAPI document can't be used: it ${problem}`,
    hint: () =>
      "name a document of OpenAPI 3.0 or 3.1, in JSON or YAML, with operations below `paths`",
    explanation:
      "An `openapi` target offers the operations of a document as tools. The document is read at build, and becomes part of the bundle: what it offers is seen in review. One of Swagger 2.0 can be converted, by swagger2openapi for example.",
  }),
  "operation-left-out": message<{ operation: string; why: string }>({
    severity: "warning",
    text: ({ operation, why }) => `${operation} is no tool: ${why}`,
    explanation:
      "A tool has the arguments `path`, `query`, `header` and `body`, which are an operation's parameters and its JSON body. An operation that needs something else (a cookie, a file, a form) can't be called so; the others of its document are tools all the same.",
  }),
  "bad-key-set": message<{ problem: string; advice?: string | undefined }>({
    severity: "error",
    text: ({ problem }) => `this is no usable key set: ${problem}`,
    hint: ({ advice }) => advice ?? "a key set holds public keys only: RSA, EC or OKP (RFC 7517)",
    explanation:
      "Tokens are verified with public keys. A symmetric or private key in a key set could sign tokens, and would be " +
      "published with the bundle.",
  }),

  "open-credentials": message<Record<never, never>>({
    severity: "warning",
    text: () => "every page of the web may read what this route tells its visitors",
    hint: () => "name the origins in allowOrigins, or leave allowCredentials out",
    explanation:
      "With allowOrigins `*` and allowCredentials any page that a user visits sends requests with this user's cookies, and " +
      "reads the responses. Browsers forbid a literal `*` here for that reason; a gateway that echoes the origin instead " +
      "goes around it. Gateway API asks just that of a gateway (its test HTTPRouteCORSAllowCredentialsBehavior), so it " +
      "builds, and `--strict` refuses it.",
  }),
  "credential-expression": message<{ variable: string }>({
    severity: "error",
    text: ({ variable }) => `"${variable}" is not known where a credential is looked for`,
    hint: () => 'read "request" or "source"',
    explanation:
      "Who the client is follows from its credential, so an expression that finds the credential reads the request and " +
      "the connection only.",
  }),
  "limits-nobody": message<{ variable: string; policies: string }>({
    severity: "warning",
    text: ({ variable, policies }) =>
      `"${variable}" is null for every request, so this descriptor limits nobody: no "${policies}" stands on this route`,
    hint: () => 'check credentials on this route, or limit by "source.address"',
    explanation:
      "A descriptor is left out when one of its values can't be had, and a request without descriptors is not limited. A " +
      "limit by what a token says holds for callers with a token alone: let the route refuse others, or give them a " +
      "descriptor of their own.",
  }),
  "limits-no-stranger": message<{ variable: string; policies: string }>({
    severity: "warning",
    text: ({ variable, policies }) =>
      `callers without "${variable}" are not limited: "${policies}" lets them pass`,
    hint: () => 'let the mode be strict, or add a descriptor of "source.address"',
    explanation:
      "A descriptor is left out when one of its values can't be had, and a request without descriptors is not limited. " +
      "Where credentials are optional whoever shows none escapes a limit by what they say. A descriptor that needs no " +
      "identity limits everybody.",
  }),
  "absent-identity": message<{ variable: string; policies: string }>({
    severity: "warning",
    text: ({ variable, policies }) =>
      `"${variable}" is null for every request: no "${policies}" stands on this route`,
    explanation:
      "The variable holds what a policy found out about the caller. Without that policy it is always null: a rule that " +
      "needs it never allows, and a deny rule that reads it denies everything.",
  }),
};
