import { type BackendKind, type BackendValues, backends } from "../../backends/index.ts";
import { connectionKeys } from "../../backends/parts/connection-sections.ts";
import { type Traffic, trafficText } from "../../model/traffic.ts";
import { policies } from "../../policies/index.ts";
import {
  type Infer,
  integer,
  list,
  listOfParts,
  misplaced,
  object,
  type Schema,
  shortText,
  unsupported,
} from "../../schema/schema.ts";
import type { RoutePolicies } from "./policies.ts";

/** A route of connections as the schema lets it through. */
export type TcpRouteValue = Infer<ReturnType<typeof fileTcpRouteSchema<RoutePolicies>>>;

/** A route of connections. `requestPolicies`: what a route of requests may have, of which most mean nothing here. */
export function fileTcpRouteSchema<Policies>(requestPolicies: Schema<Policies>) {
  return object(
    {
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
      policies: {
        ...connectionPolicies(requestPolicies),
        description: "Who may connect, and how the backends are reached.",
      },
      backends: listOfParts(backendSchema(requestPolicies), {
        maxItems: 32,
        description: "Where connections go: one backend, or several by weight.",
      }),
    },
    { hasParts: true },
  );
}

/** What there may be on a route of connections. */
const CARRIED: readonly Traffic[] = ["streams", "upstreams", "upstreamTls"];

/** Policies that act on a connection too. */
const ON_CONNECTIONS: readonly string[] = policies.flatMap(({ kind, actsOn }) =>
  actsOn.includes("streams") ? [kind] : [],
);

function connectionPolicies<Policies>(all: Schema<Policies>): Schema<Policies> {
  const usable = [...ON_CONNECTIONS, ...connectionKeys(CARRIED)];
  const marked = Object.entries(all.properties ?? {}).map(([key, schema]) => [
    key,
    usable.includes(key) ? schema : misplaced(subjectOf(key)),
  ]);
  return { ...all, properties: Object.fromEntries(marked) };
}

function subjectOf(key: string): string {
  const { actsOn = ["requests"] as const } = policies.find(({ kind }) => kind === key) ?? {};
  return trafficText(actsOn);
}

function backendSchema<Policies>(requestPolicies: Schema<Policies>) {
  const all = connectionPolicies(requestPolicies);
  // Who may connect is settled before one of the backends is chosen.
  const properties = Object.entries(all.properties ?? {}).filter(
    ([key]) => !ON_CONNECTIONS.includes(key),
  );
  const own: Schema<Policies> = {
    ...all,
    properties: Object.fromEntries(properties),
    hasParts: false,
  };
  return object(
    {
      ...kindSchemas(),
      weight: integer("Its share of the connections beside the others; 0: none.", 0, 1_000_000, {
        default: 1,
      }),
      policies: { ...own, description: "How this backend is reached; over what the route says." },
      service: unsupported("mesh services"),
      backend: unsupported("named backends"),
      ai: misplaced("LLM requests"),
    },
    { exactlyOneOf: [...KINDS, "service", "backend"] },
  );
}

/** The kinds of backends that take connections. */
const KINDS = backends.flatMap(({ kind, tcpSchema }) => (tcpSchema === undefined ? [] : [kind]));

/** The shape of each kind's value. */
function kindSchemas(): { readonly [Kind in BackendKind]: Schema<BackendValues[Kind]> } {
  const schemas = backends.map(({ kind, protocol, tcpSchema }) => [
    kind,
    tcpSchema ?? misplaced(trafficText([protocol === "mcp" ? "mcp" : "requests"])),
  ]);
  // The list of backends has every kind, each with the shape of its own value.
  return Object.fromEntries(schemas) as ReturnType<typeof kindSchemas>;
}
