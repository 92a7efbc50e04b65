import { didYouMean, message } from "./message.ts";

/** What is said of credentials for pages of any origin, wherever that stands. */
const OPEN_CREDENTIALS = {
  text: () => "every page of the web may read what this route tells its visitors",
  hint: () => "name the origins in allowOrigins, or leave allowCredentials out",
};

/** What transformations set instead of a literal text. */
const SET_BY = { header: "the header", path: '":path"', host: '":authority"' };

/** Policies that do not fit together, or not where they stand. */
export const policyMessages = {
  "literal-template": message<{
    template: string;
    expression: string | undefined;
    place: "header" | "path" | "host" | "body";
  }>({
    severity: "warning",
    text: ({ template }) => `this text is sent as it is: nothing replaces "${template}"`,
    hint: ({ place, expression }) => {
      const value = expression === undefined ? "" : `: ${expression}`;
      return place === "body"
        ? `write it as bodyExpression${value}`
        : `set ${SET_BY[place]} with transformations, whose values are expressions${value}`;
    },
    explanation:
      "Headers, paths, hosts and bodies of these policies are literal text. Values that depend on a request are CEL " +
      "expressions, which `transformations` and `bodyExpression` take. `${NAME}` is a variable of the environment.",
  }),
  "one-credential-place": message<{ one: string; other: string; place: string }>({
    severity: "error",
    text: ({ one, other, place }) =>
      `"${one}" and "${other}" both read ${place}: nobody passes both`,
    hint: ({ other }) =>
      `give "${other}" a place of its own (location), make both optional and decide by rules, or use two routes`,
    explanation:
      "A header, cookie or query parameter of a request holds one credential. Where two policies require different kinds " +
      "of credentials in the same place, every request is refused by one of them. The two may come from different levels: a " +
      "listener or Gateway, and a route.",
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
  "idle-case": message<{ why: "false" | "same" | "others" }>({
    severity: "warning",
    text: ({ why }) => {
      if (why === "same") return "this entry never acts: one before it has the same condition";
      if (why === "false") return "this entry never acts: no request meets its condition";
      return "what follows this entry never acts: every request meets its condition";
    },
    hint: ({ why }) =>
      why === "others"
        ? "correct the condition, or move the entry to the end and leave its condition out"
        : "correct the condition, or remove the entry",
    explanation:
      "Of conditional entries the first one acts whose condition is true, and none where none is. An entry that no request " +
      "comes to asks nobody and limits nobody, though it looks as if it did.",
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
  "attached-twice": message<{ field: string }>({
    severity: "error",
    text: ({ field }) => `"${field}" is said twice of one target`,
    hint: () => "keep one of them, or give one a more specific target",
    explanation:
      "A policy with a more specific target counts more: those of the gateway, of a port, of a listener, of a route, and what the " +
      "route says itself. Of two with one target it can't be seen which is meant.",
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
  "idle-callout-field": message<{ field: string; actsOn: string }>({
    severity: "error",
    text: ({ field, actsOn }) => `"${field}" acts on ${actsOn}, and here are none`,
    hint: () => "take it out",
    explanation:
      "What goes to a server that a policy asks depends on its protocol, and on what `processingOptions` send: attributes go " +
      "with the head that they are about, and a processor changes its modes in what it says of a head.",
  }),
  "nothing-processed": message<Record<never, never>>({
    severity: "error",
    text: () => "the processor gets nothing of a request and nothing of its response",
    hint: () => "send it a head or a body, or remove the policy",
    explanation:
      "With each of `processingOptions` at `skip` or `none` a call is made for each request, and nothing is said in it.",
  }),
  "unsent-header": message<{ name: string; side: "call" | "request" | "response" }>({
    severity: "warning",
    text: ({ name, side }) =>
      side === "response"
        ? `the backend never gets "${name}" of the server's response`
        : `the server never gets "${name}" of a request`,
    hint: ({ name, side }) =>
      side === "call" && name.toLowerCase() === "host" ? 'write ":authority"' : "take it out",
    explanation:
      "Content-Length, Connection and their like belong to one connection and say nothing of a request (RFC 9110 7.6.1). A " +
      "server that is asked over HTTP is asked by its own name in Host (`addRequestHeaders` may say another as " +
      "`:authority`); one that is asked over gRPC finds the client's in `:authority`.",
  }),
  "body-not-allowed": message<{ status: number }>({
    severity: "error",
    text: ({ status }) => `a response with status ${status} has no body`,
    explanation: "RFC 9110 15.3.5 and 15.4.5: 204 and 304 end after the head.",
  }),
  "two-token-checks": message<Record<never, never>>({
    severity: "error",
    text: () => '"jwtAuth" and "mcpAuthentication" both check the bearer token of this route',
    hint: () => 'keep "mcpAuthentication": it checks tokens and also serves the OAuth metadata',
    explanation:
      "The first check takes the token out of the request, so the second would refuse every request. " +
      "`mcpAuthentication` is `jwtAuth` plus the metadata endpoints that MCP clients look for.",
  }),
  "login-and-token": message<{ policy: string }>({
    severity: "error",
    text: ({ policy }) => `"oidc" and "${policy}" both say who sends the requests of this route`,
    hint: ({ policy }) => `give programs with tokens a route of their own, with "${policy}"`,
    explanation:
      "Both fill `jwt`: `oidc` with the login of a browser, the other policy with a bearer token, which it requires or " +
      "lets through. A request would have to have both.",
  }),
  "two-server-choices": message<Record<never, never>>({
    severity: "error",
    text: () => '"sessionAffinity" and "sessionPersistence" both choose the server of this route',
    hint: () => "keep one of them",
    explanation:
      "`sessionPersistence` keeps a client where it was, by what the gateway gave it; `sessionAffinity` computes the server " +
      "from the request. Where they differ one of them would not be kept.",
  }),
  "open-credentials": message<Record<never, never>>({
    ...OPEN_CREDENTIALS,
    severity: "error",
    explanation:
      "With allowOrigins `*` and allowCredentials any page that a user visits sends requests with this user's cookies, and " +
      "reads the responses. Browsers forbid a literal `*` here for that reason; a gateway that echoes the origin instead " +
      "goes around it.",
  }),
  "open-credentials-by-request": message<Record<never, never>>({
    ...OPEN_CREDENTIALS,
    severity: "warning",
    explanation:
      "Manifests say this in the words of Gateway API, which has allowOrigins `*` and allowCredentials together and asks " +
      "a gateway to allow each page by its origin (its test HTTPRouteCORSAllowCredentialsBehavior). So it builds, and " +
      "`--strict` refuses it, as files are refused: any page that a user visits reads the responses with this user's cookies.",
  }),
  "credential-expression": message<{ variable: string }>({
    severity: "error",
    text: ({ variable }) => `"${variable}" is not known where a credential is looked for`,
    hint: () => 'read "request" or "source"',
    explanation:
      "Who the client is follows from its credential, so an expression that finds the credential reads the request and " +
      "the connection only.",
  }),
  "shared-verdict": message<Record<never, never>>({
    severity: "warning",
    text: () =>
      "this key is the same for every request: whoever is asked about first decides for all",
    hint: () => 'name who asks and what for: request.headers["authorization"], request.path',
    explanation:
      "A verdict that is kept holds for all requests with its key, so the key has to say everything that the authorization server decides by.",
  }),
  "verdict-of-another": message<{ of: "body" | "caller" }>({
    severity: "warning",
    text: ({ of }) =>
      of === "body"
        ? "the server is shown the body, and this key says nothing of it: a verdict about one body holds for others"
        : "nothing in this key tells callers apart: a verdict about one holds for all",
    hint: ({ of }) =>
      of === "body"
        ? "add request.body, or do not send the body"
        : 'add what the server knows them by: request.headers["authorization"], source.address',
    explanation:
      "A verdict that is kept holds for all requests with its key, so the key has to say everything that the authorization " +
      "server decides by: whoever comes later with the same key gets it, and the headers that the server set with it.",
  }),
  "repeated-key": message<Record<never, never>>({
    severity: "error",
    text: () => "this key stands here twice",
    hint: () => "remove one of them",
    explanation:
      "A key has one holder. Of two entries with one key the second one would decide what is known of its holder and which models it may ask for, and the first one nothing.",
  }),
  "repeated-descriptor": message<{ isSame: boolean; unit: "requests" | "tokens" }>({
    severity: "warning",
    text: ({ isSame, unit }) =>
      isSame
        ? `each of the ${unit} counts twice: this descriptor stands here once before`
        : "the service counts this together with the descriptor before that has the same entries",
    hint: ({ isSame }) =>
      isSame
        ? "remove one of them"
        : 'tell them apart by an entry of their own, such as { key: "counts", value: \'"tokens"\' }',
    explanation:
      "A limit service counts by a descriptor's entries alone, in their order. Of two with the same ones in one call each " +
      "adds to the same count: a limit is reached in half the time, requests are added to tokens, and of two limits of " +
      "their own it can't be seen which holds.",
  }),
  "counted-before-routing": message<Record<never, never>>({
    severity: "warning",
    text: () => "the service has counted this before: the listener's policy has the same entries",
    hint: () => "remove one of them: each request counts twice",
    explanation:
      "A limit of a listener that acts before routing counts in a call of its own, and so does that of the route. With the " +
      "same domain and entries both add to one count. Policies of a listener that act behind routing give way to those of " +
      "the route, and count nothing twice.",
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
  "limits-who-says-so": message<{ name: string }>({
    severity: "warning",
    text: ({ name }) => `requests without ${name} are not limited`,
    hint: () =>
      'add a descriptor of "source.address", or let the expression give a value in its place',
    explanation:
      "A descriptor is left out when one of its values can't be had, and a request without descriptors is not limited: who " +
      'leaves the header out escapes a limit by it. `"x-team" in request.headers ? request.headers["x-team"] : "none"` ' +
      "counts those together, and a descriptor that every request has limits everybody.",
  }),
  "too-early": message<{ variable: string; policies: string }>({
    severity: "error",
    text: ({ variable, policies }) => `"${variable}" is null here: "${policies}" has not run yet`,
    hint: ({ policies }) =>
      `what runs behind it can read it, and so can the log; \`gwc explain ${policies.replace(/".*/, "")}\` says when it runs`,
    explanation:
      "Policies run in one order, whatever order they are written in, and this expression is evaluated before the policy " +
      "that finds out what it reads, or by that policy itself. It would be null for every request: a rule that needs it " +
      "never allows, a limit by it limits nobody. Of a listener, policies before routing run before all of its routes.",
  }),
  "limits-by-choice": message<{ names: readonly string[] }>({
    severity: "warning",
    text: ({ names }) =>
      `clients choose the header${names.length === 1 ? "" : "s"} ${names.map((name) => `"${name}"`).join(", ")}: with each value they have a limit of their own`,
    hint: () =>
      "take what the gateway knows of them (jwt.sub, apiKey.user, source.address), or let a policy ahead of the limit set the header",
    explanation:
      "A limit with a `key` counts for each of its values. What a client sends it can also send with another value, and " +
      "whoever does so with each request is never limited. That a client has no say in is what a policy found out about " +
      "it, and a header that a policy sets or removes before the limit is asked: `transformations` of the listener, an " +
      "authorization server. Those of the route itself come after its limits.",
  }),
  "unknown-identity-field": message<{
    variable: string;
    field: string;
    suggestion: string | undefined;
    known: readonly string[];
  }>({
    severity: "warning",
    text: ({ variable, field }) =>
      `"${variable}.${field}" is absent from every request: none of "${variable}" has it`,
    hint: ({ variable, suggestion, known }) =>
      didYouMean(suggestion) ??
      (known.length === 0
        ? "say it in `metadata` of the keys that have it"
        : `there are ${known.map((field) => `${variable}.${field}`).join(", ")}`),
    explanation:
      "`apiKey` in expressions is the `metadata` of the key that a request has. Where all keys stand in the configuration " +
      "it is known what they may say: a rule that needs anything else never allows, and a deny rule that reads it denies " +
      "everything.",
  }),
  "absent-identity": message<{ variable: string; policies: string }>({
    severity: "warning",
    text: ({ variable, policies }) =>
      `"${variable}" is null for every request: no "${policies}" stands on this route`,
    explanation:
      "The variable holds what a policy found out about the caller or the request. Without that policy it is always null: a rule that " +
      "needs it never allows, and a deny rule that reads it denies everything.",
  }),
};
