import {
  lowerServerReference,
  serverReferenceFields,
} from "../../backends/parts/callout-server.ts";
import { lowerExpressions } from "../../backends/parts/named-expressions.ts";
import { childOf } from "../../diagnostics/diagnostic.ts";
import { choice, type Infer, object } from "../../schema/schema.ts";
import type { KubernetesContext } from "../policy.ts";
import type {
  AuthorizationConfig,
  GrpcProtocolConfig,
  HttpProtocolConfig,
} from "./ext-authz-config.ts";
import {
  BODY,
  CHECK_SERVER,
  cacheSchema,
  contextStrings,
  filterMetadata,
  GRPC,
  HTTP_WITH_BODY,
  headerNames,
  headersAt,
  lowerCache,
  lowerHttpFields,
  maxBodySize,
  metadataFields,
  questionFields,
  responseHeaderNames,
} from "./http-fields.ts";

const grpc = object(
  {
    contextExtensions: contextStrings.manifest,
    requestMetadata: filterMetadata,
  },
  { description: GRPC },
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
  { description: HTTP_WITH_BODY },
);

/** Schema of the specification's `ExtAuth`. */
export const extAuthSchema = object(
  {
    ...serverReferenceFields(CHECK_SERVER),
    failureMode: choice(
      "Outcome for a request if the server fails: refused with 403, or allowed.",
      ["FailClosed", "FailOpen"],
      { default: "FailClosed" },
    ),
    grpc,
    http,
    cache: cacheSchema,
    forwardBody: object(
      { maxSize: maxBodySize(Number.MAX_SAFE_INTEGER, {}) },
      { required: ["maxSize"], description: BODY },
    ),
  },
  {
    exactlyOneOf: ["grpc", "http"],
    checks: [
      {
        message: 'exactly one of "backendRef" and "url" is required',
        holds: ({ backendRef, url }) => (backendRef === undefined) !== (url === undefined),
        cel: "has(self.backendRef) != has(self.url)",
      },
    ],
    examples: [{ backendRef: { name: "authz", port: 9000 }, grpc: {} }],
  },
);

/** Reads `ExtAuth`; returns `undefined` if its server is unknown (reported). */
export function lowerExtAuth(
  { failureMode, grpc, http, forwardBody, cache, ...given }: Infer<typeof extAuthSchema>,
  context: KubernetesContext,
): AuthorizationConfig | undefined {
  const { origin } = context;
  const called = http && withoutPath(given.url, http);
  const server = lowerServerReference({ ...given, ...(called && { url: called.url }) }, context);
  if (server === undefined) return undefined;
  return {
    server,
    protocol:
      called === undefined ? lowerGrpc(grpc ?? {}, context) : lowerHttp(called.http, context),
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

/** Moves the path of a server's URL to the check requests, unless their path is an expression. */
function withoutPath(
  url: string | undefined,
  given: Infer<typeof http>,
): { readonly url: string | undefined; readonly http: Infer<typeof http> } {
  const { origin, pathname = "/" } = url === undefined ? {} : new URL(url);
  if (pathname === "/" || given.path !== undefined) return { url, http: given };
  return { url: origin, http: { ...given, path: JSON.stringify(pathname) } };
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
