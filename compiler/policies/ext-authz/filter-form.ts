import { lowerServerReference } from "../../backends/parts/callout-server.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import { backendReference } from "../../manifests/field-types.ts";
import { choice, type Infer, integer, object, shortText } from "../../schema/schema.ts";
import type { KubernetesContext } from "../policy.ts";
import type { AuthorizationConfig, HttpProtocolConfig, NamedHeaders } from "./ext-authz-config.ts";
import { BODY, CHECK_SERVER, GRPC, HTTP_WITH_BODY, headerNames, headersAt } from "./http-fields.ts";

const grpc = object(
  { allowedHeaders: headerNames("Request headers sent to the server; all by default.") },
  { description: GRPC },
);

const http = object(
  {
    path: shortText("Prefix added to the request's path when calling the server.", {
      maxLength: 1024,
      pattern: "^(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|[%][0-9a-fA-F]{2})+$",
    }),
    allowedHeaders: headerNames(
      "Request headers sent to the server, in addition to Authorization.",
    ),
    allowedResponseHeaders: headerNames(
      "Headers copied from the server's response to the request for the backend; by default all except those that describe the response's body.",
    ),
  },
  { description: HTTP_WITH_BODY },
);

/** Schema of Gateway API's `HTTPExternalAuthFilter`. */
export const externalAuthSchema = object(
  {
    protocol: choice("Protocol of the server.", ["HTTP", "GRPC"]),
    backendRef: backendReference(CHECK_SERVER),
    grpc,
    http,
    forwardBody: object(
      {
        maxSize: integer(
          "Maximum number of body bytes; larger bodies get 413. With 0, no body is sent.",
          0,
          2_147_483_647,
          { default: 0 },
        ),
      },
      { description: BODY },
    ),
  },
  {
    required: ["protocol", "backendRef"],
    exactlyOneOf: ["grpc", "http"],
    examples: [
      { protocol: "HTTP", backendRef: { name: "authz", port: 8080 }, http: { path: "/check" } },
    ],
    checks: [
      {
        message: '"grpc" requires protocol: GRPC, and "http" requires protocol: HTTP',
        field: "protocol",
        holds: ({ protocol, grpc: call }) => (protocol === "GRPC") === (call !== undefined),
        cel: "(self.protocol == 'GRPC') == has(self.grpc)",
      },
    ],
    description: "Asks an authorization server about each request of the rule.",
  },
);

/** Reads `HTTPExternalAuthFilter`; returns `undefined` if its server is unknown (reported). */
export function lowerExternalAuth(
  { backendRef, grpc: call, http: request, forwardBody }: Infer<typeof externalAuthSchema>,
  context: KubernetesContext,
): AuthorizationConfig | undefined {
  const { origin } = context;
  const server = lowerServerReference({ backendRef }, context);
  if (server === undefined) return undefined;
  const maxSize = forwardBody?.maxSize ?? 0;
  return {
    server,
    failure: 403,
    ...(request === undefined
      ? {
          protocol: { kind: "grpc", contextExtensions: {}, metadata: undefined },
          requestHeaders: someOf(call?.allowedHeaders, childOf(origin, "grpc", "allowedHeaders")),
        }
      : {
          protocol: lowerHttp(request, childOf(origin, "http")),
          requestHeaders: headersAt(
            request.allowedHeaders,
            childOf(origin, "http", "allowedHeaders"),
          ),
        }),
    body: maxSize === 0 ? undefined : { maxSize, allowsPart: false, asBytes: false },
    cache: undefined,
    origin,
  };
}

function lowerHttp(
  { path, allowedResponseHeaders }: Infer<typeof http>,
  origin: Origin,
): HttpProtocolConfig {
  return {
    kind: "http",
    path:
      path === undefined
        ? undefined
        : {
            text: `${JSON.stringify(path)} + request.pathAndQuery`,
            origin: childOf(origin, "path"),
          },
    redirect: undefined,
    body: undefined,
    alwaysSent: ["authorization"],
    responseHeaders:
      someOf(allowedResponseHeaders, childOf(origin, "allowedResponseHeaders")) ?? "all",
    addHeaders: [],
    metadata: [],
  };
}

/** Treats an empty list as absent, as Gateway API does. */
function someOf(names: readonly string[] = [], origin: Origin): NamedHeaders | undefined {
  return names.length === 0 ? undefined : { names, origin };
}
