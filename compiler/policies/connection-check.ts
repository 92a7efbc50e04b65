import {
  lowerServer,
  serverFields,
  serverPolicies,
  serverWords,
} from "../backends/parts/callout-server.ts";
import { expressionsSchema } from "../backends/parts/named-expressions.ts";
import { serverKeys } from "../backends/parts/server-name.ts";
import { childOf, type Diagnostics, type Origin } from "../diagnostics/diagnostic.ts";
import type { CompiledExpression } from "../model/expressions.ts";
import { choice, expression, type Infer, object } from "../schema/schema.ts";
import { cacheSchema, lowerCache, lowerHttpFields } from "./ext-authz/http-fields.ts";
import { type PolicyConfig, type PolicySettings, policyConfig } from "./index.ts";

/** A server that is asked about every client connection, in the form of one for requests. */
export type ConnectionCheckConfig = PolicyConfig<"extAuthz">;

/** The resolved form of `ConnectionCheckConfig`. */
export type ConnectionCheckSettings = PolicySettings["extAuthz"];

const OF_REQUESTS = "requests have it: write extAuthz in the policies of a route";

/** Schema of `networkExtAuthz` in a file. */
export const connectionCheckSchema = object(
  {
    ...serverFields,
    protocol: object(
      {
        http: object(
          {
            path: expression('Path and query of the check request. `"/"` by default.'),
            body: expression(
              "Body of the check request: a string, bytes, or any other value as JSON.",
            ),
            addRequestHeaders: expressionsSchema(
              "Headers of the check request; one whose expression fails is omitted. `:authority` sets the Host header, and `:method` the method, GET by default.",
            ),
          },
          {
            misplacedFieldHints: {
              redirect: OF_REQUESTS,
              includeResponseHeaders: OF_REQUESTS,
              metadata: OF_REQUESTS,
            },
            description: "An HTTP request: 2xx allows the connection, other responses deny it.",
          },
        ),
      },
      {
        required: ["http"],
        misplacedFieldHints: { grpc: "servers are asked about connections over HTTP: write http" },
        description: "Protocol of the authorization server.",
      },
    ),
    failureMode: choice(
      "Outcome for a connection if the server does not respond, or responds with 5xx.",
      ["deny", "allow"],
      { default: "deny" },
    ),
    cache: cacheSchema,
    policies: serverPolicies,
  },
  {
    required: ["protocol"],
    exactlyOneOf: [...serverKeys],
    misplacedFieldHints: {
      ...serverWords,
      failOpen: "write failureMode: allow",
      includeRequestHeaders: OF_REQUESTS,
      includeRequestBody: OF_REQUESTS,
      conditional: OF_REQUESTS,
    },
    description:
      "Asks an authorization server about each connection, once `networkAuthorization` allows it. Expressions read `source` and `destination`. Nothing is read from a connection before the verdict, and denied ones are closed.",
  },
);

/** Reads the server of a file. */
export function readConnectionCheck(
  given: Infer<typeof connectionCheckSchema>,
  origin: Origin,
): ConnectionCheckConfig {
  const { protocol, failureMode, cache } = given;
  const value = {
    server: lowerServer(given, origin),
    protocol: {
      ...lowerHttpFields(protocol.http, childOf(origin, "protocol", "http")),
      alwaysSent: [],
      responseHeaders: undefined,
      metadata: [],
    },
    failure: failureMode === "allow" ? ("allow" as const) : 403,
    requestHeaders: { names: [], origin },
    body: undefined,
    cache: cache && lowerCache(cache, childOf(origin, "cache")),
    origin,
  };
  return policyConfig("extAuthz", { cases: [{ condition: undefined, value, origin }] }, origin);
}

/** Reports expressions that read variables that a connection does not have. */
export function checkConnectionCheck(
  { cases }: ConnectionCheckSettings,
  diagnostics: Diagnostics,
): void {
  for (const { value } of cases) {
    const { protocol, cache, origin } = value;
    if (protocol.kind !== "http") continue;
    const at = (field: string) => childOf(origin, "protocol", "http", field);
    const report = (compiled: CompiledExpression | undefined, place: Origin): void => {
      const unknown = compiled?.reads.find(([first]) => !KNOWN.has(first ?? ""));
      if (unknown === undefined) return;
      diagnostics.report("needs-source", place, {
        variable: unknown.join("."),
        hasDestination: true,
      });
    };
    report(protocol.path, at("path"));
    report(protocol.body, at("body"));
    for (const { name, value: each } of protocol.addHeaders)
      report(each, childOf(at("addRequestHeaders"), name));
    const { key = [], ttl } = cache ?? {};
    for (const [index, each] of key.entries()) report(each, childOf(origin, "cache", "key", index));
    if (typeof ttl === "object") report(ttl, childOf(origin, "cache", "ttl"));
  }
}

/** Variables that a connection has. */
const KNOWN: ReadonlySet<string> = new Set(["source", "destination"]);
