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
  headerNames,
  headersAt,
  lowerHttpFields,
  metadataFields,
  questionFields,
  responseHeaderNames,
} from "./http-fields.ts";

const grpc = object(
  {
    contextExtensions: map(anyText(), {
      maxProperties: 64,
      description: "Texts that every request for a verdict carries.",
    }),
    requestMetadata: expressionsSchema(
      "Objects that the server gets as filter metadata; by default the claims of the token, as Envoy's JWT filter names them.",
    ),
  },
  { description: "Envoy's `service.auth.v3.Authorization/Check`." },
);

const http = object(
  {
    ...questionFields,
    allowedRequestHeaders: headerNames(
      "Headers of the request that the server gets; Authorization by default.",
    ),
    allowedResponseHeaders: responseHeaderNames,
    responseMetadata: metadataFields,
  },
  { description: "A plain request: 2xx allows, any other response is the client's." },
);

/** `ExtAuth` of the specification. */
export const extAuthSchema = object(
  {
    backendRef: backendReference("The authorization server: a Service or a static GatewayBackend."),
    failureMode: choice(
      "What happens when the server can't be asked: the request is refused (403), or it passes.",
      ["FailClosed", "FailOpen"],
      { default: "FailClosed" },
    ),
    grpc,
    http,
    forwardBody: object(
      { maxSize: byteCount("Bytes of the body at most; 413 beyond.", 1, Number.MAX_SAFE_INTEGER) },
      { required: ["maxSize"], description: "The server gets the request's body." },
    ),
  },
  {
    required: ["backendRef"],
    exactlyOneOf: ["grpc", "http"],
    examples: [{ backendRef: { name: "authz", port: 9000 }, grpc: {} }],
  },
);

/** `ExtAuth`; undefined when its server is not known (reported). */
export function lowerExtAuth(
  { backendRef, failureMode, grpc, http, forwardBody }: Infer<typeof extAuthSchema>,
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
    cache: undefined,
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
