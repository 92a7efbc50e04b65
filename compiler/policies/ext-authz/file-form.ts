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
import { parseTimer } from "../../schema/duration.ts";
import {
  anyText,
  boolean,
  byteCount,
  choice,
  duration,
  either,
  expression,
  type Infer,
  integer,
  list,
  map,
  object,
} from "../../schema/schema.ts";
import { conditionalSchema, standsAlone } from "../parts/conditions.ts";
import type {
  AuthorizationConfig,
  GrpcProtocolConfig,
  HttpProtocolConfig,
  VerdictCacheConfig,
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
    context: map(anyText({ maxLength: 4096 }), {
      maxProperties: 64,
      description: "Texts that every request for a verdict carries (`context_extensions`).",
    }),
    metadata: expressionsSchema(
      "Objects that the server gets as filter metadata; one that fails is left out. By default the claims of the token, as Envoy's JWT filter names them.",
    ),
  },
  { description: "Envoy's `service.auth.v3.Authorization/Check`." },
);

const http = object(
  { ...questionFields, includeResponseHeaders: responseHeaderNames, metadata: metadataFields },
  {
    description: "The request without its body: 2xx allows it, any other response is the client's.",
  },
);

const body = object(
  {
    maxRequestBytes: byteCount("Bytes of the body at most; 413 beyond.", 1, 1_073_741_824, {
      default: 8192,
    }),
    allowPartialMessage: boolean("True: the server gets the beginning of a longer body.", {
      default: false,
    }),
    packAsBytes: boolean("True: as bytes (`raw_body`), not as text.", { default: false }),
  },
  { description: "The server gets the request's body." },
);

const cache = object(
  {
    key: list(expression("A part of the key."), {
      minItems: 1,
      maxItems: 16,
      description: "Requests with the same values have the same verdict; one that fails asks.",
    }),
    ttl: duration("How long a verdict holds.", { minimumDuration: "1ms" }),
    maxEntries: integer("Verdicts that are kept at most.", 1, 1_000_000, { default: 10_000 }),
  },
  { required: ["key", "ttl"], description: "Verdicts are kept, and renewed before they end." },
);

const fields = {
  ...serverFields,
  protocol: object(
    { grpc, http },
    { exactlyOneOf: ["grpc", "http"], description: "What is spoken; gRPC by default." },
  ),
  failureMode: either(
    choice("What happens.", ["deny", "allow"]),
    object({ denyWithStatus: integer("The status.", 400, 599) }, { required: ["denyWithStatus"] }),
    {
      default: "deny",
      description:
        "What becomes of a request when there is no verdict: `deny` (403), `allow`, or `{denyWithStatus: N}`.",
    },
  ),
  includeRequestHeaders: headerNames(
    "Headers of the request that the server gets, by their whole names, with gRPC `:path` and its like too; by default all with gRPC and Authorization with HTTP.",
  ),
  includeRequestBody: body,
  cache,
  policies: serverPolicies,
};

const words = { ...serverWords, failOpen: "write failureMode: allow" };

const rest = {
  exactlyOneOf: [...serverKeys],
  misplacedFieldHints: words,
  description: "Asks an authorization server about each request.",
};

/** The shape of `extAuthz` in the file. */
export const extAuthzSchema = object(
  { ...fields, conditional: conditionalSchema(object(fields, rest)) },
  {
    exactlyOneOf: [...serverKeys, "conditional"],
    checks: [standsAlone("who is asked", Object.keys(fields))],
    misplacedFieldHints: words,
    description: rest.description,
  },
);

/** One form of a validated `extAuthz`. */
export type AuthorizationValue = Omit<Infer<typeof extAuthzSchema>, "conditional">;

/** One form of `extAuthz`. */
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

function lowerCache(
  { key, ttl, maxEntries = 10_000 }: Infer<typeof cache>,
  origin: Origin,
): VerdictCacheConfig {
  return {
    key: key.map((text, index) => ({ text, origin: childOf(origin, "key", index) })),
    ttl: parseTimer(ttl) ?? 0,
    maxEntries,
    origin,
  };
}
