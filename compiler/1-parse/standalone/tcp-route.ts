import { type BackendKind, type BackendValues, backends } from "../../backends/index.ts";
import { connectionKeys } from "../../backends/parts/connection-sections.ts";
import { serverNameSchema } from "../../backends/parts/server-name.ts";
import { serviceReferenceSchema } from "../../backends/parts/service-reference.ts";
import { type Traffic, trafficText } from "../../model/traffic.ts";
import { policies } from "../../policies/index.ts";
import {
  type Infer,
  ignored,
  integer,
  list,
  listOfParts,
  misplaced,
  object,
  type Schema,
  shortText,
} from "../../schema/schema.ts";
import { OWN_CONNECTION } from "./backend-policies.ts";
import type { RoutePolicies } from "./policies.ts";
import { nameOfRoute, ruleNameOfRoute } from "./route.ts";

/** Type of a valid connection route. */
export type TcpRouteValue = Infer<ReturnType<typeof fileTcpRouteSchema<RoutePolicies>>>;

/** Schema of a connection route. `requestPolicies` are those of a request route, most of which have no meaning here. */
export function fileTcpRouteSchema<Policies>(requestPolicies: Schema<Policies>) {
  return object(tcpRouteFields(requestPolicies), { hasParts: true });
}

/** Returns the fields of a connection route. */
export function tcpRouteFields<Policies>(requestPolicies: Schema<Policies>) {
  return {
    name: nameOfRoute,
    namespace: ignored("a file has no namespaces", "remove it"),
    ruleName: ruleNameOfRoute,
    hostnames: list(
      shortText("A server name, exact or with `*` as its first label.", { format: "hostname" }),
      {
        minItems: 1,
        description: "Server names (SNI) that it serves; all of the listener by default.",
      },
    ),
    policies: {
      ...connectionPolicies(requestPolicies),
      description: "Rules for who may connect, and connection settings of the backends.",
    },
    backends: listOfParts(backendSchema(requestPolicies), {
      maxItems: 32,
      description: "One backend, or several by weight.",
    }),
  };
}

/** Traffic of a connection route. */
const CARRIED: readonly Traffic[] = ["streams", "upstreams", "upstreamTls"];

/** Policies that also apply to connections. */
const ON_CONNECTIONS: readonly string[] = policies.flatMap(({ kind, traits }) =>
  traits.actsOn.includes("streams") ? [kind] : [],
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
  const policy = policies.find(({ kind }) => kind === key);
  return trafficText(policy?.traits.actsOn ?? ["requests"]);
}

function backendSchema<Policies>(requestPolicies: Schema<Policies>) {
  const all = connectionPolicies(requestPolicies);
  // Authorization of connections runs before a backend is chosen.
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
      weight: integer(
        "Its share of the connections relative to the other backends; 0 for none.",
        0,
        1_000_000,
        {
          default: 1,
        },
      ),
      policies: {
        ...own,
        description: OWN_CONNECTION,
      },
      service: serviceReferenceSchema,
      backend: serverNameSchema,
      ai: misplaced("LLM requests"),
    },
    { exactlyOneOf: [...KINDS, "service", "backend"] },
  );
}

/** Kinds of backends that accept connections. */
const KINDS = backends.flatMap(({ kind, tcpSchema }) => (tcpSchema === undefined ? [] : [kind]));

/** Returns the schema of each backend kind. */
function kindSchemas(): { readonly [Kind in BackendKind]: Schema<BackendValues[Kind]> } {
  const schemas = backends.map(({ kind, protocol, tcpSchema }) => [
    kind,
    tcpSchema ?? misplaced(trafficText([protocol === "mcp" ? "mcp" : "requests"])),
  ]);
  // The list of backends has every kind, each with its own schema.
  return Object.fromEntries(schemas) as ReturnType<typeof kindSchemas>;
}
