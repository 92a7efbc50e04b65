import type { BodyForwarding } from "../../../runtime/policies/ext-authz/forwarded-body.ts";
import {
  lowerServer,
  serverFields,
  serverPolicies,
  serverWords,
} from "../../backends/parts/callout-server.ts";
import { lowerExpressions } from "../../backends/parts/named-expressions.ts";
import { serverKeys } from "../../backends/parts/server-name.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import { boolean, choice, either, type Infer, integer, object } from "../../schema/schema.ts";
import { conditionalAlone, conditionalSchema } from "../parts/conditions.ts";
import type {
  AuthorizationConfig,
  GrpcProtocolConfig,
  HttpProtocolConfig,
} from "./ext-authz-config.ts";
import {
  BODY,
  cacheSchema,
  contextStrings,
  filterMetadata,
  GRPC,
  HTTP,
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
    context: contextStrings.file,
    metadata: filterMetadata,
  },
  { description: GRPC },
);

const http = object(
  { ...questionFields, includeResponseHeaders: responseHeaderNames, metadata: metadataFields },
  { description: HTTP },
);

const body = object(
  {
    maxRequestBytes: maxBodySize(1_073_741_824, { default: 8192 }),
    allowPartialMessage: boolean(
      "Send only the beginning of a larger body instead of answering 413.",
      {
        default: false,
      },
    ),
    packAsBytes: boolean("Send the body as bytes (`raw_body`) instead of a string.", {
      default: false,
    }),
  },
  { description: BODY },
);

const fields = {
  ...serverFields,
  protocol: object(
    { grpc, http },
    {
      exactlyOneOf: ["grpc", "http"],
      description: "Protocol of the authorization server; gRPC by default.",
    },
  ),
  failureMode: either(
    choice("The outcome.", ["deny", "allow"]),
    object({ denyWithStatus: integer("The status.", 400, 599) }, { required: ["denyWithStatus"] }),
    {
      default: "deny",
      description:
        "Outcome for a request if the server fails: `deny` (403), `allow`, or `{denyWithStatus: N}`.",
    },
  ),
  includeRequestHeaders: headerNames(
    "Full names of the request headers sent to the server, with gRPC including `:path` and other pseudo-headers. Defaults to all headers with gRPC, to Authorization with HTTP.",
  ),
  includeRequestBody: body,
  cache: cacheSchema,
  policies: serverPolicies,
};

const CONTEXT = "write protocol: { grpc: { context: {...} } }";

const words = {
  ...serverWords,
  failOpen: "write failureMode: allow",
  context: CONTEXT,
  contextExtensions: CONTEXT,
};

const rest = {
  exactlyOneOf: [...serverKeys],
  misplacedFieldHints: words,
  description: "Asks an authorization server about each request.",
};

/** Schema of `extAuthz` in a file. */
export const extAuthzSchema = object(
  { ...fields, conditional: conditionalSchema(object(fields, rest)) },
  {
    exactlyOneOf: [...serverKeys, "conditional"],
    checks: [conditionalAlone("the server", Object.keys(fields))],
    misplacedFieldHints: words,
    description: rest.description,
  },
);

/** One validated case of `extAuthz`. */
export type AuthorizationValue = Omit<Infer<typeof extAuthzSchema>, "conditional">;

/** Reads one case of `extAuthz`. */
export function lowerAuthorization(given: AuthorizationValue, origin: Origin): AuthorizationConfig {
  const { protocol = {}, failureMode = "deny" } = given;
  const at = childOf(origin, "protocol");
  return {
    server: lowerServer(given, origin),
    protocol:
      protocol.http === undefined
        ? lowerGrpc(protocol.grpc ?? {}, childOf(at, "grpc"))
        : lowerHttp(protocol.http, childOf(at, "http")),
    failure: failureOf(failureMode),
    requestHeaders: headersAt(
      given.includeRequestHeaders,
      childOf(origin, "includeRequestHeaders"),
    ),
    body: given.includeRequestBody && lowerBody(given.includeRequestBody),
    cache: given.cache && lowerCache(given.cache, childOf(origin, "cache")),
    origin,
  };
}

function failureOf(mode: NonNullable<AuthorizationValue["failureMode"]>): number | "allow" {
  if (typeof mode === "object") return mode.denyWithStatus;
  return mode === "allow" ? "allow" : 403;
}

function lowerGrpc(
  { context = {}, metadata }: Infer<typeof grpc>,
  origin: Origin,
): GrpcProtocolConfig {
  return {
    kind: "grpc",
    contextExtensions: context,
    metadata: metadata && lowerExpressions(metadata, childOf(origin, "metadata")),
  };
}

function lowerHttp(given: Infer<typeof http>, origin: Origin): HttpProtocolConfig {
  return {
    ...lowerHttpFields(given, origin),
    alwaysSent: [],
    responseHeaders: headersAt(
      given.includeResponseHeaders,
      childOf(origin, "includeResponseHeaders"),
    ),
    metadata: lowerExpressions(given.metadata, childOf(origin, "metadata")),
  };
}

function lowerBody({
  maxRequestBytes = 8192,
  allowPartialMessage = false,
  packAsBytes = false,
}: Infer<typeof body>): BodyForwarding {
  return { maxSize: maxRequestBytes, allowsPart: allowPartialMessage, asBytes: packAsBytes };
}
