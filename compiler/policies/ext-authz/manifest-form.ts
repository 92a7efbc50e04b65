import { childOf } from "../../diagnostics/diagnostic.ts";
import { backendReference } from "../../manifests/field-types.ts";
import {
  anyText,
  expression,
  type Infer,
  integer,
  list,
  map,
  object,
  shortText,
} from "../../schema/schema.ts";
import { lowerServerReference } from "../parts/callout-server.ts";
import { expressionsSchema, lowerExpressions } from "../parts/named-expressions.ts";
import type { KubernetesContext } from "../policy.ts";
import type {
  AuthorizationConfig,
  GrpcProtocolConfig,
  HttpProtocolConfig,
} from "./ext-authz-config.ts";

const headerNames = (description: string) =>
  list(shortText("A header's name."), { maxItems: 64, description });

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
    path: expression("The path and query that are asked for; those of the request by default."),
    redirect: expression("Where a client goes whose request got 401 or 403, with 302."),
    allowedRequestHeaders: headerNames(
      "Headers of the request that the server gets; Authorization by default.",
    ),
    addRequestHeaders: expressionsSchema("Headers for the server; one that fails is left out."),
    allowedResponseHeaders: headerNames(
      "Headers of the server's response that the backend gets, in the place of the client's.",
    ),
    responseMetadata: expressionsSchema(
      "What later expressions read as `extauthz.NAME`, of the request and the server's `response`.",
    ),
  },
  { description: "A plain request: 2xx allows, any other response is the client's." },
);

/** `ExtAuth` of the specification. */
export const extAuthSchema = object(
  {
    backendRef: backendReference("The authorization server: a Service or a static GatewayBackend."),
    grpc,
    http,
    forwardBody: object(
      { maxSize: integer("Bytes of the body at most; 413 beyond.", 1, Number.MAX_SAFE_INTEGER) },
      { required: ["maxSize"], description: "The server gets the request's body." },
    ),
  },
  { required: ["backendRef"], exactlyOneOf: ["grpc", "http"] },
);

/** `ExtAuth`; undefined when its server is not known (reported). */
export function lowerExtAuth(
  { backendRef, grpc, http, forwardBody }: Infer<typeof extAuthSchema>,
  context: KubernetesContext,
): AuthorizationConfig | undefined {
  const { origin } = context;
  const server = lowerServerReference(backendRef, context);
  if (server === undefined) return undefined;
  return {
    server,
    protocol: http === undefined ? lowerGrpc(grpc ?? {}, context) : lowerHttp(http, context),
    failure: 403,
    requestHeaders: http?.allowedRequestHeaders,
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
  {
    path,
    redirect,
    addRequestHeaders,
    allowedResponseHeaders = [],
    responseMetadata,
  }: Infer<typeof http>,
  { origin }: KubernetesContext,
): HttpProtocolConfig {
  const at = (field: string) => childOf(origin, "http", field);
  return {
    kind: "http",
    path: path === undefined ? undefined : { text: path, origin: at("path") },
    redirect: redirect === undefined ? undefined : { text: redirect, origin: at("redirect") },
    responseHeaders: allowedResponseHeaders,
    addHeaders: lowerExpressions(addRequestHeaders, at("addRequestHeaders")),
    metadata: lowerExpressions(responseMetadata, at("responseMetadata")),
  };
}
