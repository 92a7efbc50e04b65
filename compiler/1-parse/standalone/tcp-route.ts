import { policies } from "../../policies/index.ts";
import {
  integer,
  list,
  object,
  type Schema,
  shortText,
  text,
  unsupported,
} from "../../schema/schema.ts";
import { dynamicSchema } from "./dynamic.ts";

/** A route of connections. `requestPolicies`: what a route of requests may have, of which most mean nothing here. */
export function tcpRouteSchema(requestPolicies: Schema): Schema {
  const { properties = {} } = requestPolicies;
  return object({
    name: shortText("What logs, metrics and generated code call it."),
    namespace: unsupported("route namespaces"),
    ruleName: unsupported("rule names"),
    hostnames: list(
      shortText("A server name, exact or with a first label `*`.", { format: "hostname" }),
      {
        minItems: 1,
        description: "Which server names (SNI) it takes; every one of the listener by default.",
      },
    ),
    policies: object(policySchemas(properties), {
      description: "Who may connect, and how the backends are reached.",
    }),
    backends: list(backendSchema(properties), {
      maxItems: 32,
      description: "Where connections go: one backend, or several by weight.",
    }),
  });
}

/** Policies of a route of requests that decide about a connection too. */
const ON_CONNECTIONS: readonly string[] = policies.flatMap(({ kind, checkConnection }) =>
  checkConnection === undefined ? [] : [kind],
);

/** Those that say how a backend is reached, and mean the same for a connection. */
const OF_BACKENDS: readonly string[] = ["backendTLS", "tcp"];

function policySchemas(all: Readonly<Record<string, Schema>>): Readonly<Record<string, Schema>> {
  return Object.fromEntries(
    Object.entries(all).map(([key, schema]) => [
      key,
      [...ON_CONNECTIONS, ...OF_BACKENDS, ...UNSUPPORTED].includes(key)
        ? schema
        : { misplaced: subjectOf(key) },
    ]),
  );
}

/** What may come for connections too. */
const UNSUPPORTED = ["backendTunnel"];

function subjectOf(key: string): string {
  return key.startsWith("mcp") ? "MCP messages" : "HTTP requests";
}

function backendSchema(all: Readonly<Record<string, Schema>>): Schema {
  const ways = ["host", "service", "backend", "dynamic"];
  // Who may connect is settled before one of the backends is chosen.
  const own = Object.entries(policySchemas(all)).filter(([key]) => !ON_CONNECTIONS.includes(key));
  return object(
    {
      host: text("`host:port` of a server.", { readAtStart: true }),
      weight: integer("Its share of the connections beside the others; 0: none.", 0, 1_000_000, {
        default: 1,
      }),
      policies: object(Object.fromEntries(own), {
        description: "How this backend is reached; over what the route says.",
      }),
      service: unsupported("mesh services"),
      backend: unsupported("named backends"),
      dynamic: dynamicSchema("TLS connection (SNI)", "443"),
      mcp: { misplaced: "MCP messages" },
      ai: { misplaced: "LLM requests" },
    },
    { exactlyOneOf: ways },
  );
}
