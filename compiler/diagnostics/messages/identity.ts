import { didYouMean, message } from "./message.ts";

/** Message and hint for credentials that are allowed for every origin, in files and manifests. */
const OPEN_CREDENTIALS = {
  text: () => "any website can read the responses of this route with its visitors' credentials",
  hint: () => "list the origins in allowOrigins, or remove allowCredentials",
};

/** Diagnostics about callers: their credentials, their identities, and verdicts about them. */
export const identityMessages = {
  "provider-without-registration": message<{ provider: string }>({
    severity: "error",
    text: ({ provider }) => `MCP clients cannot register at ${provider}, so "clientId" is required`,
    hint: () => "register one client there, and write its id: clientId: ID",
    explanation:
      "MCP clients register themselves (RFC 7591) or name themselves by a document. Some identity providers support " +
      "neither. The gateway then answers registrations with the id of a client that an administrator has registered.",
  }),
  "server-without-clients": message<Record<never, never>>({
    severity: "error",
    text: () => "no client can use this authorization server",
    hint: () => 'allow registrations ("registrationsPerHour"), or list "clientDocuments"',
    explanation:
      "Clients register (RFC 7591) or name a document that describes them. With neither, the gateway knows no client, and " +
      "nobody gets a token.",
  }),
  "two-token-checks": message<Record<never, never>>({
    severity: "error",
    text: () => '"jwtAuth" and "mcpAuthentication" both verify the bearer token on this route',
    hint: () => 'keep "mcpAuthentication": it verifies tokens and also serves the OAuth metadata',
    explanation:
      "The first policy removes the token from the request, so the second would refuse every request. " +
      "`mcpAuthentication` is `jwtAuth` plus the metadata endpoints that MCP clients look for.",
  }),
  "login-and-token": message<{ policy: string }>({
    severity: "error",
    text: ({ policy }) => `"oidc" and "${policy}" both authenticate the requests of this route`,
    hint: ({ policy }) => `add a separate route with "${policy}" for programs that send tokens`,
    explanation:
      "Both set `jwt`: `oidc` from the login of a browser, the other policy from a bearer token. A request would need " +
      "both.",
  }),
  "open-credentials": message<Record<never, never>>({
    ...OPEN_CREDENTIALS,
    severity: "error",
    explanation:
      "With allowOrigins `*` and allowCredentials, any website that a user visits can send requests with the user's " +
      "cookies and read the responses. Browsers reject a literal `*` here for that reason, but a gateway that echoes " +
      "the origin bypasses this protection.",
  }),
  "open-credentials-by-request": message<Record<never, never>>({
    ...OPEN_CREDENTIALS,
    severity: "warning",
    explanation:
      "Gateway API allows allowOrigins `*` together with allowCredentials, and requires that a gateway echoes the " +
      "origin (conformance test HTTPRouteCORSAllowCredentialsBehavior). So manifests get a warning, which `--strict` " +
      "turns into an error as in files: any website that a user visits can read the responses with the user's cookies.",
  }),
  "credential-expression": message<{ variable: string }>({
    severity: "error",
    text: ({ variable }) => `"${variable}" is not available when credentials are extracted`,
    hint: () => 'use "request" or "source"',
    explanation:
      "The identity of the client is derived from its credential, so the expression that extracts the credential can " +
      "only read the request and the connection.",
  }),
  "shared-verdict": message<Record<never, never>>({
    severity: "warning",
    text: () =>
      "this key is the same for every request: the first decision is reused for all of them",
    hint: () =>
      'add the caller and the resource to the key: request.headers["authorization"], request.path',
    explanation:
      "A cached decision is reused for all requests with the same key, so the key must contain everything that the " +
      "authorization server bases its decision on.",
  }),
  "verdict-of-another": message<{ of: "body" | "caller" }>({
    severity: "warning",
    text: ({ of }) =>
      of === "body"
        ? "the server receives the body, but the key does not contain it: a decision about one body is reused for others"
        : "the key does not identify the caller: a decision about one is reused for all",
    hint: ({ of }) =>
      of === "body"
        ? "add request.body to the key, or do not send the body"
        : 'add what identifies callers: request.headers["authorization"], source.address',
    explanation:
      "A cached decision is reused for all requests with the same key, including the headers that the server set with " +
      "it. The key must contain everything that the authorization server bases its decision on.",
  }),
  "too-early": message<{ variable: string; policies: string }>({
    severity: "error",
    text: ({ variable, policies }) => `"${variable}" is null here: "${policies}" has not run yet`,
    hint: ({ policies }) =>
      `policies that run later and the log can read it; \`gwc explain ${policies.replace(/".*/, "")}\` says when it runs`,
    explanation:
      "Policies run in a fixed order, whatever order they are written in. This expression is evaluated before the " +
      "policy that sets the variable, or by that policy itself, so the variable is null for every request: an allow " +
      "rule that needs it never matches, and a limit by it limits no one. On a listener, policies before routing run " +
      "before all of its routes.",
  }),
  "unknown-identity-field": message<{
    variable: string;
    field: string;
    suggestion: string | undefined;
    known: readonly string[];
    isProvided: boolean;
  }>({
    severity: "warning",
    text: ({ variable, field, isProvided }) =>
      `"${variable}.${field}" never exists: ${isProvided ? "no policy that runs before this provides it" : `no entry of "${variable}" has it`}`,
    hint: ({ variable, suggestion, known, isProvided }) =>
      didYouMean(suggestion) ??
      (known.length === 0
        ? isProvided
          ? "add it to `provides` of a policy that runs before this"
          : "add it to `metadata` of the keys"
        : `known fields: ${known.map((field) => `${variable}.${field}`).join(", ")}`),
    explanation:
      "`apiKey` in expressions is the `metadata` of the request's key. If all keys are in the configuration, their " +
      "fields are known: an allow rule that needs any other field never matches, and a deny rule that reads it denies " +
      "everything. The same is true of `custom`, whose fields are the values that custom policies declare in `provides`.",
  }),
  "models-in-metadata": message<Record<never, never>>({
    severity: "warning",
    text: () => '"allowedModels" in the metadata of a key restricts nothing',
    hint: () => "move it out of metadata: { key: ..., allowedModels: [...], metadata: {...} }",
    explanation:
      "Metadata of a key is data that rules read as `apiKey`. `allowedModels` next to it limits the models of the key. " +
      "In metadata it has an effect only if a rule compares it.",
  }),
  "absent-identity": message<{ variable: string; policies: string }>({
    severity: "warning",
    text: ({ variable, policies }) =>
      `"${variable}" is null for every request: this route has no "${policies}"`,
    explanation:
      "A policy sets this variable. Without the policy it is always null: an allow rule that needs it never matches, " +
      "and a deny rule that reads it denies everything.",
  }),
};
