import { lowerServerReference } from "../../backends/parts/callout-server.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import { backendReference } from "../../manifests/field-types.ts";
import { choice, type Infer, integer, object, shortText } from "../../schema/schema.ts";
import type { KubernetesContext } from "../policy.ts";
import type { AuthorizationConfig, HttpProtocolConfig, NamedHeaders } from "./ext-authz-config.ts";
import { headerNames, headersAt } from "./http-fields.ts";

const grpc = object(
  { allowedHeaders: headerNames("Headers of the request that the server gets; all by default.") },
  { description: "Envoy's `service.auth.v3.Authorization/Check`." },
);

const http = object(
  {
    path: shortText("What stands before the request's path when the server is asked.", {
      maxLength: 1024,
      pattern: "^(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|[%][0-9a-fA-F]{2})+$",
    }),
    allowedHeaders: headerNames("Headers of the request that the server gets, and Authorization."),
    allowedResponseHeaders: headerNames(
      "Headers of the server's response that the backend gets; by default all but those about its own body.",
    ),
  },
  { description: "A plain request: 2xx allows, any other response is the client's." },
);

/** Gateway API `HTTPExternalAuthFilter`. */
export const externalAuthSchema = object(
  {
    protocol: choice("What the server speaks.", ["HTTP", "GRPC"]),
    backendRef: backendReference("The authorization server: a Service or a static GatewayBackend."),
    grpc,
    http,
    forwardBody: object(
      {
        maxSize: integer(
          "Bytes of the body at most, 413 beyond; with 0 it gets none.",
          0,
          2_147_483_647,
          { default: 0 },
        ),
      },
      { description: "The server gets the request's body." },
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
        message: '"grpc" stands with protocol: GRPC, and "http" with protocol: HTTP',
        field: "protocol",
        holds: ({ protocol, grpc: call }) => (protocol === "GRPC") === (call !== undefined),
        cel: "(self.protocol == 'GRPC') == has(self.grpc)",
      },
    ],
    description: "Asks an authorization server about each request of the rule.",
  },
);

/** `HTTPExternalAuthFilter`; undefined when its server is not known (reported). */
export function lowerExternalAuth(
  { backendRef, grpc: call, http: request, forwardBody }: Infer<typeof externalAuthSchema>,
  context: KubernetesContext,
): AuthorizationConfig | undefined {
  const { origin } = context;
  const server = lowerServerReference(backendRef, context);
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
    alwaysSent: ["authorization"],
    responseHeaders:
      someOf(allowedResponseHeaders, childOf(origin, "allowedResponseHeaders")) ?? "all",
    addHeaders: [],
    metadata: [],
  };
}

/** Gateway API has an empty list mean the same as none. */
function someOf(names: readonly string[] = [], origin: Origin): NamedHeaders | undefined {
  return names.length === 0 ? undefined : { names, origin };
}
