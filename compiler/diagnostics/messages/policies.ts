import { didYouMean, message } from "./message.ts";

/** Names of the parts that `transformations` can set instead of a literal string. */
const SET_BY = { header: "the header", path: '":path"', host: '":authority"' };

/** Diagnostics about policies that conflict, or that cannot apply where they are. */
export const policyMessages = {
  "literal-template": message<{
    template: string;
    expression: string | undefined;
    place: "header" | "path" | "host" | "body";
    isVariable: boolean;
  }>({
    severity: "warning",
    text: ({ template, isVariable }) =>
      isVariable
        ? `"${template}" is a variable of the gateway's environment, not a value of the request`
        : `this string is sent unchanged: "${template}" is not replaced`,
    hint: ({ place, expression }) => {
      const value = expression === undefined ? "" : `: ${expression}`;
      return place === "body"
        ? `write it as bodyExpression${value}`
        : `set ${SET_BY[place]} with transformations, whose values are expressions${value}`;
    },
    explanation:
      "Headers, paths, hosts and bodies of these policies are literal strings. For values that depend on a request, " +
      "use CEL expressions in `transformations` and `bodyExpression`. `${NAME}` is a variable of the environment.",
  }),
  "preflight-refuses-credential": message<{ header: string; policy: string }>({
    severity: "warning",
    text: ({ header, policy }) =>
      `pages of the allowed origins cannot send "${header}", which ${policy} requires`,
    hint: ({ header }) => `add ${header} to allowHeaders`,
    explanation:
      "A browser sends a header such as `authorization` to another origin only if the response to its preflight names " +
      "the header in `access-control-allow-headers`. `*` includes every header except `authorization`.",
  }),
  "one-credential-place": message<{ one: string; other: string; place: string }>({
    severity: "error",
    text: ({ one, other, place }) =>
      `"${one}" and "${other}" both read ${place}: no request can pass both`,
    hint: ({ other }) =>
      `set another location for "${other}", make both optional and add rules, or use two routes`,
    explanation:
      "A header, cookie or query parameter carries one credential. If two policies require different kinds of " +
      "credentials in the same place, one of them refuses every request. They may be configured on different levels: a " +
      "listener or Gateway, and a route.",
  }),
  "mcp-prefixed-name": message<{ name: string; form: string }>({
    severity: "warning",
    text: ({ name }) =>
      `rules see names without the prefix of the target, so "${name}" never matches`,
    hint: ({ form }) => `write \`${form}\``,
    explanation:
      "If an endpoint has several MCP servers, clients see the tool `add` of the target `math` as `math_add`. Rules " +
      "see the target's own name for it and the target separately: `mcp.tool.name`, `mcp.tool.target`.",
  }),
  "mcp-unknown-target": message<{ name: string; suggestion: string }>({
    severity: "warning",
    text: ({ name }) => `this route has no MCP target "${name}"`,
    hint: ({ suggestion }) => `did you mean "${suggestion}"?`,
    explanation:
      "`mcp.tool.target` is the name of a target of the route's backend, so a comparison with another name is always " +
      "false.",
  }),
  "verbatim-path-rule": message<{ listener: string }>({
    severity: "warning",
    text: ({ listener }) =>
      `this rule sees normalized paths, but the listener "${listener}" forwards them unchanged: a backend may interpret them differently`,
    hint: () =>
      "check that the backend resolves dots, slashes and encodings as gwc does, or use another condition",
    explanation:
      "Routes and rules see normalized paths: `/a/../admin` and `/%61dmin` are both `/admin`. With `pathHandling: " +
      "verbatim` the backend receives what the client sent, including encoded slashes, and may interpret it " +
      "differently.",
  }),
  "health-reads": message<Record<never, never>>({
    severity: "error",
    text: () => "health expressions can only read the head of a response",
    hint: () => "use response.code or response.headers",
    explanation:
      "Health is shared by all requests, so an expression about it cannot depend on the client, and a response is " +
      "forwarded before its body is complete.",
  }),
  "head-only": message<Record<never, never>>({
    severity: "error",
    text: () => "retries are decided before the response body is available",
    hint: () => "use response.code or response.headers",
    explanation:
      "Responses are streamed. Once a byte has reached the client, the request cannot be retried, so the decision " +
      "cannot wait for the body.",
  }),
  "early-fallback": message<Record<never, never>>({
    severity: "error",
    text: () => "the entries after this one are never used: it has no condition",
    hint: () => "add a condition, or move it to the end",
    explanation:
      "The first conditional entry whose condition is true is used. An entry without a condition always matches, so it " +
      "must be the last.",
  }),
  "idle-case": message<{ why: "false" | "same" | "others" }>({
    severity: "warning",
    text: ({ why }) => {
      if (why === "same") return "this entry is never used: an earlier one has the same condition";
      if (why === "false") return "this entry is never used: no request matches its condition";
      return "the entries after this one are never used: every request matches its condition";
    },
    hint: ({ why }) =>
      why === "others"
        ? "correct the condition, or remove it and move the entry to the end"
        : "correct the condition, or remove the entry",
    explanation:
      "The first conditional entry whose condition is true is used, or none. An entry that is never used enforces " +
      "nothing, although it looks as if it did.",
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
        ? `"${name}" cannot be removed: every ${side} needs it`
        : `a ${side} has no pseudo header "${name}"`,
    hint: ({ known }) => `available pseudo headers: ${known.join(", ")}`,
    explanation:
      "Names with a colon are the parts of the request line and the status of a response (RFC 9113 8.3). Each message " +
      "has every one of its own exactly once.",
  }),
  "needs-host-backend": message<{ policy: string }>({
    severity: "error",
    text: ({ policy }) =>
      `"${policy}" only applies to plain HTTP backends, but this route has an mcp backend`,
    explanation:
      "An MCP endpoint calls its servers itself: it has sessions and streams, and one client request can become " +
      "several calls or none. The policy applies to a forwarded request, so it would not be enforced.",
  }),
  "needs-prefix-match": message<{ field: string }>({
    severity: "error",
    text: ({ field }) => `${field} requires that all matches use pathPrefix`,
    hint: () => "use pathPrefix, or replace the whole path with `full`",
    explanation:
      "Replacing a prefix replaces the prefix that the route matched (Gateway API ReplacePrefixMatch). A path that was " +
      "matched exactly or by a pattern has no such prefix.",
  }),
  "duplicate-policy": message<{ first: string; second: string }>({
    severity: "error",
    text: ({ first, second }) => `"${first}" and "${second}" are two names of the same policy`,
    hint: () => "keep one of them",
    explanation:
      "Files accept the policy names of Kubernetes resources too. A route has each policy once: with both names it " +
      "would be unclear which one is enforced.",
  }),
  "policy-module": message<{ message: string; hint?: string | undefined }>({
    severity: "error",
    text: (params) => params.message,
    hint: ({ hint }) => hint,
    explanation:
      "A policy is a TypeScript module below the folder `policies`. gwc reads its declaration without running it, checks " +
      "its types, and allows only what the configuration names in `allow`. `gwc init --policy NAME` writes one.",
  }),
  "policy-types": message<{ message: string }>({
    severity: "error",
    text: (params) => params.message,
    hint: (params) => {
      const [, name] = /^Cannot find module '([^'./][^']*)'/.exec(params.message) ?? [];
      if (name !== undefined)
        return `install the package next to the configuration: npm install ${name}`;
      return /is of type 'unknown'|^Type 'unknown' is not assignable/.test(params.message)
        ? "JSON from outside has no type: test it first, such as with typeof or Array.isArray"
        : undefined;
    },
    explanation:
      "The type checker found a mistake in a module of a custom policy. It is as strict as for generated code.",
  }),
  "unpublished-policy": message<{ policy: string }>({
    severity: "error",
    text: ({ policy }) => `no policy "${policy}" is published`,
    hint: () =>
      "operators publish policies with the chart's `policies.configMap`; `gwc check` reads the folder `policies` next to the manifests",
    explanation:
      "In a cluster, only operators bring code: a GatewayPolicy names one of their policies and sets its options.",
  }),
  "policy-unreadable": message<{ file: string; problem: string }>({
    severity: "error",
    text: ({ file, problem }) => `"${file}" cannot be read: ${problem}`,
    hint: () => "paths of policies start next to the configuration: ./policies/NAME.ts",
    explanation: "The code of a custom policy becomes part of the gateway, so it is read at build.",
  }),
  "provided-twice": message<{ value: string; first: string; second: string }>({
    severity: "error",
    text: ({ value, first, second }) =>
      `the policies "${first}" and "${second}" both provide custom.${value}`,
    hint: () => "rename one of the values, so that rules read the one that they mean",
    explanation: "Later rules read provided values by name, and a name has one value.",
  }),
  "unknown-place": message<{
    name: string;
    side: "before" | "after";
    known: string;
    suggestion: string | undefined;
  }>({
    severity: "error",
    text: ({ name, side }) => `nothing can run ${side} "${name}"`,
    hint: ({ suggestion, known }) => didYouMean(suggestion) ?? `policies that are steps: ${known}`,
    explanation:
      "A custom policy runs before or after another policy of its route or listener. Policies that act when a backend is " +
      "called (timeouts, retries, rules for MCP items) are no steps of a request. Custom policies run in the order of " +
      "their list.",
  }),
  "impossible-place": message<{
    name: string;
    side: "before" | "after";
    level: "listener" | "route";
  }>({
    severity: "error",
    text: ({ name, side, level }) =>
      level === "listener"
        ? `this cannot run ${side} "${name}", which the listener runs before the route is chosen`
        : `this cannot run ${side} "${name}", which routes run after they are chosen`,
    hint: ({ level }) =>
      level === "listener" ? "move this policy to the listener" : "move this policy to the routes",
    explanation:
      "The policies of a listener run before all policies of its routes, so `before` and `after` only order policies of " +
      "the same listener or route.",
  }),
  "place-without-policy": message<{ name: string; side: "before" | "after" }>({
    severity: "warning",
    text: ({ name, side }) =>
      `"${name}" is not configured here, so nothing is ordered by "${side}"`,
    hint: ({ side }) => `remove "${side}", or configure that policy`,
    explanation:
      "The custom policy runs where the named policy would run if it were configured on this listener or route.",
  }),
  "attached-twice": message<{ field: string }>({
    severity: "error",
    text: ({ field }) => `"${field}" is configured twice for the same target`,
    hint: () => "keep one of them, or make one target more specific",
    explanation:
      "A policy with a more specific target has precedence: gateway, port, listener, route, then the policies in the " +
      "route itself. With two policies on the same target it would be unclear which one applies.",
  }),
  "header-conflict": message<{ name: string }>({
    severity: "error",
    text: ({ name }) => `the header "${name}" is changed twice`,
    hint: () => "use each name in only one of set, add and remove (names are case-insensitive)",
    explanation:
      "The result would depend on the order of the changes, so each header may be changed once.",
  }),
  "connection-header": message<{ name: string }>({
    severity: "error",
    text: ({ name }) => `policies cannot change "${name}"`,
    hint: ({ name }) =>
      name.toLowerCase() === "host" ? "use hostRewrite or urlRewrite.authority" : undefined,
    explanation:
      "Content-Length, Transfer-Encoding, Connection and similar headers belong to one connection, and the gateway " +
      "generates them for each message (RFC 9110 7.6.1). Changing them could make two servers parse one message " +
      "differently. Rewrite Host with hostRewrite or urlRewrite.",
  }),
  "idle-callout-field": message<{ field: string; actsOn: string }>({
    severity: "error",
    text: ({ field, actsOn }) => `"${field}" applies to ${actsOn}, but this place has none`,
    hint: () => "remove it",
    explanation:
      "The data for the server of a policy depends on its protocol and on `processingOptions`: attributes are sent " +
      "with the head that they belong to, and a processor changes its modes in the response to a head.",
  }),
  "nothing-processed": message<Record<never, never>>({
    severity: "error",
    text: () => "the processor is not sent any part of a request or response",
    hint: () => "send it a head or a body, or remove the policy",
    explanation:
      "If all `processingOptions` are `skip` or `none`, the processor is called for every request without any data.",
  }),
  "unsent-header": message<{ name: string; side: "call" | "request" | "response" }>({
    severity: "warning",
    text: ({ name, side }) =>
      side === "response"
        ? `"${name}" of the server's response is never sent to the backend`
        : `"${name}" of a request is never sent to the server`,
    hint: ({ name, side }) =>
      side === "call" && name.toLowerCase() === "host" ? 'write ":authority"' : "remove it",
    explanation:
      "Content-Length, Connection and similar headers belong to one connection, not to a request (RFC 9110 7.6.1). A " +
      "server that is called over HTTP gets its own name in Host (`addRequestHeaders` can set another as " +
      "`:authority`); a server that is called over gRPC gets the client's in `:authority`.",
  }),
  "body-not-allowed": message<{ status: number }>({
    severity: "error",
    text: ({ status }) => `a response with status ${status} has no body`,
    explanation: "RFC 9110 15.3.5 and 15.4.5: 204 and 304 end after the head.",
  }),
  "two-server-choices": message<Record<never, never>>({
    severity: "error",
    text: () => '"sessionAffinity" and "sessionPersistence" both select the server of a request',
    hint: () => "keep one of them",
    explanation:
      "`sessionPersistence` routes a client to the same server by a cookie or header that the gateway issued; " +
      "`sessionAffinity` derives the server from the request. If they disagreed, one of them would be ignored.",
  }),
  "limits-by-choice": message<{ names: readonly string[] }>({
    severity: "warning",
    text: ({ names }) =>
      `clients choose the header${names.length === 1 ? "" : "s"} ${names.map((name) => `"${name}"`).join(", ")}: every new value gets a new limit`,
    hint: () =>
      "use a verified identity (jwt.sub, apiKey.user, source.address), or set the header in a policy before the limit",
    explanation:
      "A limit with a `key` counts separately for each value. Clients can send a different value with each request and " +
      "are then never limited. They cannot choose a verified identity, or a header that a policy sets or removes " +
      "before the limit: `transformations` of the listener, or an authorization server. Transformations of the route " +
      "itself run after its limits.",
  }),
};
