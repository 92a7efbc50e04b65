import type { ExpressionConfig } from "../../backends/parts/expressions.ts";
import { expressionsSchema, lowerExpressions } from "../../backends/parts/named-expressions.ts";
import { lowerTimeSpan, timeSpanSchema } from "../../backends/parts/time-span.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import {
  anyText,
  byteCount,
  expression,
  type Infer,
  inPhase,
  integer,
  list,
  map,
  object,
  shortText,
} from "../../schema/schema.ts";
import type { HttpProtocolConfig, NamedHeaders, VerdictCacheConfig } from "./ext-authz-config.ts";

/** Schema of a list of header names. */
export const headerNames = (description: string) =>
  list(shortText("A header's name."), { maxItems: 64, description });

const CONTEXT = {
  maxProperties: 64,
  description: "Strings sent with every check request (`context_extensions`).",
};

/** Returns the names with the location of their list. */
export function headersAt(
  names: readonly string[] | undefined,
  origin: Origin,
): NamedHeaders | undefined {
  return names && { names, origin };
}

/** Description of the server in manifests. */
export const CHECK_SERVER = "The authorization server: a Service or a static GatewayBackend.";

/** Description of a check over gRPC. */
export const GRPC = "Envoy's `service.auth.v3.Authorization/Check`.";

/** Description of a check over HTTP. */
export const HTTP =
  "Sends the request without its body: 2xx allows it; any other response is returned to the client.";

/** Description of a check that may include the body. */
export const HTTP_WITH_BODY =
  "Sends a plain HTTP request: 2xx allows; any other response is returned to the client.";

/** Description of the part of the body that is sent. */
export const BODY = "Sends the request's body to the server.";

/** Schemas of strings sent with checks over gRPC: `context` in files, `contextExtensions` in manifests. */
export const contextStrings = {
  file: map(anyText({ maxLength: 4096 }), CONTEXT),
  manifest: map(anyText(), CONTEXT),
};

/** Schema of objects sent with checks over gRPC: `metadata` in files, `requestMetadata` in manifests. */
export const filterMetadata = expressionsSchema(
  "Objects sent as filter metadata; one whose expression fails is omitted. By default the claims of the token, named as by Envoy's JWT filter.",
);

/** Returns the schema of the maximum size of a body. */
export function maxBodySize(maximum: number, initial: { readonly default?: number }) {
  return byteCount("Maximum number of body bytes; larger bodies get 413.", 1, maximum, initial);
}

/** Fields of a check over HTTP that have the same names in both forms. */
export const questionFields = {
  path: expression(
    "Path and query of the check request; those of the client's request by default.",
  ),
  body: expression(
    "Body of the check request instead of the client's: a string, bytes, or any other value as JSON.",
  ),
  redirect: expression("Target of the 302 redirect that replaces a 401 or 403 from the server."),
  addRequestHeaders: expressionsSchema(
    "Headers of the check request, which replace the client's; one whose expression fails is omitted. `:authority` sets the Host header, and `:method` the method, which otherwise is that of the request.",
  ),
};

/** Schema of the headers copied from the server's response. */
export const responseHeaderNames = headerNames(
  "Headers copied from the server's response to the request for the backend; the client's headers of these names are removed.",
);

/** Schema of the metadata that later expressions read. */
export const metadataFields = inPhase(
  "response",
  expressionsSchema(
    "Values that later expressions read as `extauthz.NAME`, computed from the request and the server's `response`.",
  ),
);

const shared = object(questionFields);

/** Reads the fields that both forms share; `origin` is that of the protocol. */
export function lowerHttpFields(
  { path, redirect, body, addRequestHeaders }: Infer<typeof shared>,
  origin: Origin,
): Pick<HttpProtocolConfig, "kind" | "path" | "redirect" | "body" | "addHeaders"> {
  const at = (field: keyof typeof questionFields) => childOf(origin, field);
  return {
    kind: "http",
    path: expressionAt(path, at("path")),
    redirect: expressionAt(redirect, at("redirect")),
    body: expressionAt(body, at("body")),
    addHeaders: lowerExpressions(addRequestHeaders, at("addRequestHeaders")),
  };
}

function expressionAt(text: string | undefined, origin: Origin): ExpressionConfig | undefined {
  return text === undefined ? undefined : { text, origin };
}

/** Schema of the verdict cache, in both forms. */
export const cacheSchema = object(
  {
    key: list(expression("One part of the key."), {
      minItems: 1,
      maxItems: 16,
      description:
        "Expressions that make up the cache key: requests with the same values share a verdict. If one fails, the server is asked.",
    }),
    ttl: timeSpanSchema(
      'How long a verdict is cached: a duration (`5m`), or a CEL expression for a duration or the time at which it expires, as a timestamp or in seconds since 1970 (`duration(request.headers["x-cache-ttl"])`). The expression sees the request with the changes of the verdict; if it fails, the verdict is not cached.',
    ),
    maxEntries: integer("Maximum number of cached verdicts.", 1, 1_000_000, { default: 10_000 }),
  },
  {
    required: ["key", "ttl"],
    description: "Caches verdicts. Verdicts with a fixed `ttl` are refreshed before they expire.",
  },
);

/** Reads the verdict cache. */
export function lowerCache(
  { key, ttl, maxEntries = 10_000 }: Infer<typeof cacheSchema>,
  origin: Origin,
): VerdictCacheConfig {
  return {
    key: key.map((text, index) => ({ text, origin: childOf(origin, "key", index) })),
    ttl: lowerTimeSpan(ttl, childOf(origin, "ttl")),
    maxEntries,
    origin,
  };
}
