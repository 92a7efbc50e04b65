import {
  backendReference,
  localObject,
  span,
  tinyText,
} from "../../../schema/kubernetes-fields.ts";
import {
  choice,
  expression,
  integer,
  list,
  map,
  object,
  shortText,
  text,
} from "../../../schema/schema.ts";
import { authorizationSchema, jwksSchema } from "./authentication.ts";
import { corsFields, headerFilter, retrySchema } from "./http.ts";

/** `HeaderName` of the specification: pseudo headers start with a colon. */
const transformedName = shortText("The header's name.", {
  pattern: "^:?[A-Za-z0-9!#$%&'*+\\-.^_\\x60|~]+$",
});

const transformedHeaders = (description: string) =>
  list(
    object(
      { name: transformedName, value: expression("The value.") },
      { required: ["name", "value"] },
    ),
    { minItems: 1, maxItems: 16, description },
  );

const transform = object(
  {
    set: transformedHeaders("Headers that replace what is there."),
    add: transformedHeaders("Headers that are appended."),
    remove: list(transformedName, { minItems: 1, maxItems: 16 }),
    body: expression("The new body."),
  },
  { atLeastOneOf: ["set", "add", "remove", "body"] },
);

const expressions = map(expression("A CEL expression."), { maxProperties: 64 });
const headerNames = list(shortText("A header's name."), { maxItems: 64 });

const extAuth = object(
  {
    backendRef: backendReference("The authorization server."),
    grpc: object({
      contextExtensions: map({ type: "string" }, { maxProperties: 64 }),
      requestMetadata: expressions,
    }),
    http: object({
      path: expression("The path that is asked for."),
      redirect: expression("Where a refused client is sent."),
      allowedRequestHeaders: headerNames,
      addRequestHeaders: expressions,
      allowedResponseHeaders: headerNames,
      responseMetadata: expressions,
    }),
    forwardBody: object(
      { maxSize: integer("Bytes.", 1, Number.MAX_SAFE_INTEGER) },
      { required: ["maxSize"] },
    ),
  },
  { required: ["backendRef"], exactlyOneOf: ["grpc", "http"] },
);

const rateLimit = object(
  {
    local: list(
      object(
        {
          requests: integer("Requests in a unit.", 1, Number.MAX_SAFE_INTEGER),
          tokens: {
            ...integer("LLM tokens in a unit.", 1, Number.MAX_SAFE_INTEGER),
            unsupported: "limits of LLM tokens",
          },
          unit: choice("The unit.", ["Seconds", "Minutes", "Hours"]),
          burst: integer("Extra allowance in a short time.", 0, Number.MAX_SAFE_INTEGER),
        },
        { required: ["unit"], exactlyOneOf: ["requests", "tokens"] },
      ),
      { minItems: 1, maxItems: 16 },
    ),
    global: object(
      {
        backendRef: backendReference("The limit service."),
        domain: shortText("The domain."),
        descriptors: list(
          object(
            {
              entries: list(
                object(
                  { name: tinyText("The name."), expression: expression("The value.") },
                  { required: ["name", "expression"] },
                ),
                { minItems: 1, maxItems: 16 },
              ),
              unit: choice("What is counted.", ["Requests", "Tokens"], { default: "Requests" }),
            },
            { required: ["entries"] },
          ),
          { minItems: 1, maxItems: 16 },
        ),
      },
      { required: ["backendRef", "domain", "descriptors"], unsupported: "global rate limits" },
    ),
  },
  { atLeastOneOf: ["local", "global"] },
);

const jwtAuthentication = object(
  {
    mode: choice("What happens without a valid token.", ["Strict", "Optional", "Permissive"], {
      default: "Strict",
    }),
    providers: list(
      object(
        {
          issuer: shortText("The token's issuer (`iss`), exactly."),
          audiences: list({ type: "string" }, { minItems: 1, maxItems: 64 }),
          jwks: jwksSchema,
        },
        { required: ["issuer", "jwks"] },
      ),
      { minItems: 1, maxItems: 64 },
    ),
  },
  { required: ["providers"] },
);

const identityMode = choice("What happens without a credential.", ["Strict", "Optional"], {
  default: "Strict",
});

/** The fields of a GatewayPolicy's `traffic`, without `phase`. */
export const trafficFields = {
  transformation: object(
    { request: transform, response: transform },
    { atLeastOneOf: ["request", "response"] },
  ),
  extProc: object(
    { backendRef: backendReference("The external processor.") },
    { required: ["backendRef"] },
  ),
  extAuth,
  rateLimit,
  cors: object(corsFields),
  csrf: object({
    additionalOrigins: list(shortText("`SCHEME://HOST` or `SCHEME://HOST:PORT`."), {
      minItems: 1,
      maxItems: 16,
    }),
  }),
  headerModifiers: object(
    { request: headerFilter, response: headerFilter },
    { atLeastOneOf: ["request", "response"] },
  ),
  hostRewrite: object(
    { mode: choice("Which Host the backend sees.", ["Auto", "None"]) },
    { required: ["mode"] },
  ),
  timeouts: object({ request: span("From the first byte sent to the last one received.") }),
  retry: retrySchema,
  authorization: authorizationSchema,
  jwtAuthentication,
  basicAuthentication: object(
    {
      mode: identityMode,
      realm: text("The realm of the challenge.", { default: "Restricted" }),
      users: list(text("A line of an htpasswd file."), { minItems: 1, maxItems: 256 }),
      secretRef: localObject("A Secret with the key `.htaccess`."),
    },
    { exactlyOneOf: ["users", "secretRef"] },
  ),
  apiKeyAuthentication: object(
    {
      mode: identityMode,
      secretRef: localObject("A Secret whose entries are API keys."),
      secretSelector: object(
        { matchLabels: map({ type: "string", maxLength: 63 }) },
        { required: ["matchLabels"] },
      ),
    },
    { exactlyOneOf: ["secretRef", "secretSelector"] },
  ),
  directResponse: object(
    {
      status: integer("The status.", 200, 599),
      body: text("The body.", { maxLength: 4096 }),
    },
    { required: ["status"] },
  ),
};
