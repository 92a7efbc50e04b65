import type { BodyForwarding } from "../../../runtime/policies/ext-authz/forwarded-body.ts";
import {
  lowerServer,
  serverFields,
  serverKeys,
  serverPolicies,
  serverWords,
} from "../../backends/parts/callout-server.ts";
import { expressionsSchema, lowerExpressions } from "../../backends/parts/named-expressions.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import {
  anyText,
  boolean,
  byteCount,
  choice,
  either,
  type Infer,
  integer,
  map,
  object,
} from "../../schema/schema.ts";
import { conditionalAlone, conditionalSchema } from "../parts/conditions.ts";
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
    context: map(anyText({ maxLength: 4096 }), {
      maxProperties: 64,
      description: "Strings sent with every check request (`context_extensions`).",
    }),
    metadata: expressionsSchema(
      "Objects sent as filter metadata; one whose expression fails is omitted. By default the claims of the token, named as by Envoy's JWT filter.",
    ),
  },
  { description: "Envoy's `service.auth.v3.Authorization/Check`." },
);

const http = object(
  { ...questionFields, includeResponseHeaders: responseHeaderNames, metadata: metadataFields },
  {
    description:
      "Sends the request without its body: 2xx allows it; any other response is returned to the client.",
  },
);

const body = object(
  {
    maxRequestBytes: byteCount(
      "Maximum number of body bytes; larger bodies get 413.",
      1,
      1_073_741_824,
      {
        default: 8192,
      },
    ),
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
  { description: "Sends the request's body to the server." },
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

const words = { ...serverWords, failOpen: "write failureMode: allow" };

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
