import { hintFor } from "../../schema/hint-for.ts";
import {
  choice,
  either,
  type Infer,
  integer,
  list,
  listOfParts,
  map,
  object,
  shortText,
  type ValueCheck,
} from "../../schema/schema.ts";
import {
  addressSchema,
  hostnameSchema,
  listenerTlsSchema,
  OTHER_PROTOCOLS,
  pathHandlingSchema,
  tunnelProtocolSchema,
} from "./listener.ts";
import { listenerPolicyFields, routePoliciesSchema } from "./policies.ts";
import { routeFields, routeOptions } from "./route.ts";
import { tcpRouteFields } from "./tcp-route.ts";

/** Name of the gateway that everything without `gateways` attaches to. */
export const DEFAULT_GATEWAY = "default";

/** Description of the default gateways of sections that can also have a port. */
export const OWN_PORT = "By default the gateway named `default`, or without one a port of its own.";

/** Names of gateways cannot contain the separator of `NAME/LISTENER`. */
const NAME_FORM = { pattern: "^[^/]+$", form: 'a name without "/"' } as const;

/** Type of a valid gateway. */
export type GatewayValue = Infer<ReturnType<typeof gatewaySchema>>;

/** Type of a valid listener of a gateway. */
export type GatewayListenerValue = Infer<ReturnType<typeof gatewayListenerSchema>>;

/** Schema of `gateways`: ports by name. */
export function gatewaysSchema() {
  return map(gatewaySchema(), {
    minProperties: 1,
    propertyNames: { ...NAME_FORM, declares: "gateway" },
    hasParts: true,
    description:
      "Ports by name. Routes, `llm` and `mcp` attach to them with their own `gateways`, or to the one named `default` without.",
    examples: [{ default: { port: 3000 } }],
  });
}

function gatewaySchema() {
  return object(
    {
      port: integer("The TCP port.", 1, 65535, { examples: [3000] }),
      address: addressSchema(),
      listeners: listOfParts(gatewayListenerSchema(), {
        minItems: 1,
        description:
          "Listeners of the port, by hostname. With them, protocol, TLS and policies are theirs, not the gateway's.",
      }),
      tunnelProtocol: tunnelProtocolSchema(),
      ...ownFields("gateway"),
    },
    {
      required: ["port"],
      hasParts: true,
      misplacedFieldHints: WITHOUT_POLICIES,
      checks: OF_LISTENERS.map((field) => exclusive(field, "listeners")),
    },
  );
}

function gatewayListenerSchema() {
  return object(
    {
      name: shortText("Name that routes refer to with `GATEWAY/NAME`.", {
        ...NAME_FORM,
        declares: "listener",
      }),
      hostname: hostnameSchema(),
      ...ownFields("listener"),
    },
    { hasParts: true, misplacedFieldHints: WITHOUT_POLICIES },
  );
}

/** Names of policies that only routes have. */
const OF_ROUTES = Object.keys(routePoliciesSchema().properties ?? {}).filter(
  (name) => !(name in listenerPolicyFields()),
);

const WITHOUT_POLICIES = {
  ...hintFor("it needs a route: write it under `policies` of routes, `llm` or `mcp`", OF_ROUTES),
  policies: "write each policy directly here, without `policies`",
  routes: "write them in `routes` of the file, with `gateways: NAME`",
  tcpRoutes: "write them in `tcpRoutes` of the file, with `gateways: NAME`",
};

/** Fields of a listener that a gateway without listeners has itself. */
function ownFields(what: string) {
  return {
    protocol: choice(
      `Protocol; HTTPS by default if it has \`tls\`, otherwise HTTP. TCP and TLS forward connections; without a certificate, TLS is passed through to the backend.`,
      ["HTTP", "HTTPS", "TCP", "TLS"],
      { misplacedFieldHints: OTHER_PROTOCOLS },
    ),
    tls: listenerTlsSchema(`Terminates TLS of the ${what}.`),
    pathHandling: pathHandlingSchema,
    ...listenerPolicyFields(),
  };
}

const OF_LISTENERS = Object.keys(ownFields("gateway"));

/** Schema of the gateways that something attaches to. */
export function gatewayRefsSchema(
  what: string,
  otherwise = "By default the gateway named `default`.",
) {
  const name = shortText("A gateway, or one of its listeners: `NAME/LISTENER`.", {
    pattern: "^[^/]+(/[^/]+)?$",
    form: '"NAME" or "NAME/LISTENER"',
    refersTo: ["gateway"],
  });
  return either(name, list(name, { minItems: 1, uniqueItems: true }), {
    description: `Gateways that serve ${what}, by name or as \`NAME/LISTENER\`. ${otherwise}`,
    examples: ["default"],
  });
}

/** Schema of a request route that names its gateways. */
export function attachedRouteSchema() {
  return object({ gateways: gatewayRefsSchema("it"), ...routeFields() }, routeOptions);
}

/** Schema of a connection route that names its gateways. */
export function attachedTcpRouteSchema() {
  return object(
    { gateways: gatewayRefsSchema("it"), ...tcpRouteFields(routePoliciesSchema()) },
    { hasParts: true },
  );
}

/** Returns the rules that fields of a port of its own require that nothing is attached to gateways. */
export function withoutGateways(fields: readonly string[]): readonly ValueCheck[] {
  return fields.map((field) => exclusive(field, "gateways"));
}

function exclusive(field: string, other: string): ValueCheck {
  return {
    message: `"${field}" cannot be combined with "${other}"`,
    field,
    holds: (value) => value[field] === undefined || value[other] === undefined,
    cel: `!has(self.${field}) || !has(self.${other})`,
  };
}
