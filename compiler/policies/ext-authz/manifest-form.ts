import { lowerServerReference } from "../../backends/parts/callout-server.ts";
import { expressionsSchema, lowerExpressions } from "../../backends/parts/named-expressions.ts";
import { childOf } from "../../diagnostics/diagnostic.ts";
import { backendReference } from "../../manifests/field-types.ts";
import { anyText, byteCount, choice, type Infer, map, object } from "../../schema/schema.ts";
import type { KubernetesContext } from "../policy.ts";
import type {
  AuthorizationConfig,
  GrpcProtocolConfig,
  HttpProtocolConfig,
} from "./ext-authz-config.ts";
import {
  cacheSchema,
  headerNames,
  headersAt,
  lowerCache,
  lowerHttpFields,
  metadataFields,
  questionFields,
  responseHeaderNames,
} from "./http-fields.ts";

const grpc = object(
  {
    contextExtensions: map(anyText(), {
      maxProperties: 64,
      description: "Strings sent with every check request (`context_extensions`).",
    }),
    requestMetadata: expressionsSchema(
      "Objects sent as filter metadata; by default the claims of the token, named as by Envoy's JWT filter.",
    ),
  },
  { description: "Envoy's `service.auth.v3.Authorization/Check`." },
);

const http = object(
  {
    ...questionFields,
    allowedRequestHeaders: headerNames(
      "Request headers sent to the server; Authorization by default.",
    ),
    allowedResponseHeaders: responseHeaderNames,
    responseMetadata: metadataFields,
  },
  {
    description:
      "Sends a plain HTTP request: 2xx allows; any other response is returned to the client.",
  },
);

/** Schema of the specification's `ExtAuth`. */
export const extAuthSchema = object(
  {
    backendRef: backendReference("The authorization server: a Service or a static GatewayBackend."),
    failureMode: choice(
      "Outcome for a request if the server fails: refused with 403, or allowed.",
      ["FailClosed", "FailOpen"],
      { default: "FailClosed" },
    ),
    grpc,
    http,
    cache: cacheSchema,
    forwardBody: object(
      {
        maxSize: byteCount(
          "Maximum number of body bytes; larger bodies get 413.",
          1,
          Number.MAX_SAFE_INTEGER,
        ),
      },
      { required: ["maxSize"], description: "Sends the request's body to the server." },
    ),
  },
  {
    required: ["backendRef"],
    exactlyOneOf: ["grpc", "http"],
    examples: [{ backendRef: { name: "authz", port: 9000 }, grpc: {} }],
  },
);

/** Reads `ExtAuth`; returns `undefined` if its server is unknown (reported). */
export function lowerExtAuth(
  { backendRef, failureMode, grpc, http, forwardBody, cache }: Infer<typeof extAuthSchema>,
  context: KubernetesContext,
): AuthorizationConfig | undefined {
  const { origin } = context;
  const server = lowerServerReference(backendRef, context);
  if (server === undefined) return undefined;
  return {
    server,
    protocol: http === undefined ? lowerGrpc(grpc ?? {}, context) : lowerHttp(http, context),
    failure: failureMode === "FailOpen" ? "allow" : 403,
    requestHeaders: headersAt(
      http?.allowedRequestHeaders,
      childOf(origin, "http", "allowedRequestHeaders"),
    ),
    body: forwardBody && { maxSize: forwardBody.maxSize, allowsPart: false, asBytes: false },
    cache: cache && lowerCache(cache, childOf(origin, "cache")),
    origin,
  };
}

function lowerGrpc(
  { contextExtensions = {}, requestMetadata }: Infer<typeof grpc>,
  { origin }: KubernetesContext,
): GrpcProtocolConfig {
  const at = childOf(origin, "grpc", "requestMetadata");
  const metadata = requestMetadata && lowerExpressions(requestMetadata, at);
  return { kind: "grpc", contextExtensions, metadata };
}

function lowerHttp(
  given: Infer<typeof http>,
  { origin: whole }: KubernetesContext,
): HttpProtocolConfig {
  const origin = childOf(whole, "http");
  return {
    ...lowerHttpFields(given, origin),
    alwaysSent: [],
    responseHeaders: headersAt(
      given.allowedResponseHeaders,
      childOf(origin, "allowedResponseHeaders"),
    ),
    metadata: lowerExpressions(given.responseMetadata, childOf(origin, "responseMetadata")),
  };
}
