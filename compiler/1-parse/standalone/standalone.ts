import { SERVICE_INSTEAD } from "../../schema/refused-features.ts";
import {
  type Infer,
  ignored,
  listOfParts,
  object,
  orEmpty,
  shortText,
  text,
  unsupportedBut,
} from "../../schema/schema.ts";
import { attachedPolicySchema } from "./attached-policy.ts";
import { namedBackendSchema } from "./backend.ts";
import { frontendSchema } from "./frontend.ts";
import { attachedRouteSchema, attachedTcpRouteSchema, gatewaysSchema } from "./gateway.ts";
import { bindSchema } from "./listener.ts";
import { llmSchema } from "./llm.ts";
import { mcpDoorSchema } from "./mcp.ts";
import { policiesElsewhere } from "./policies.ts";
import { processSchema } from "./process.ts";
import { routeSchema } from "./route.ts";
import { declaredServiceSchema } from "./services.ts";

/** Type of a valid standalone file. */
export type StandaloneFile = Infer<ReturnType<typeof standaloneSchema>>;

/** Type of a valid item of `routeGroups`. */
export type RouteGroupValue = Infer<ReturnType<typeof routeGroupSchema>>;

function routeGroupSchema() {
  return object(
    {
      name: shortText("Name that routes refer to.", { declares: "routeGroup" }),
      routes: listOfParts(routeSchema(), {
        minItems: 1,
        description: "Routes for the delegated requests.",
      }),
    },
    { required: ["name", "routes"], hasParts: true },
  );
}

/** Schema of the standalone file (`gwc -f FILE`), as `gwc schema` prints it for editors. */
export function standaloneSchema() {
  return object(standaloneFields(), {
    atLeastOneOf: ["gateways", "binds", "llm", "mcp"],
    hasParts: true,
    misplacedFieldHints: policiesElsewhere,
    title: "gwc gateway",
    description: "A gateway for MCP, LLM and HTTP traffic.",
  });
}

/** Returns the fields of a standalone file. */
export function standaloneFields() {
  return {
    $schema: text("Address of this schema, for editors."),
    name: text("Name of the gateway (default: the name of the file without its extension).", {
      pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$",
      form: 'letters, digits, ".", "_" and "-"',
      maxLength: 63,
    }),
    config: orEmpty(processSchema),
    binds: listOfParts(bindSchema(), {
      description: "Ports that the gateway listens on.",
    }),
    frontendPolicies: frontendSchema(),
    policies: listOfParts(attachedPolicySchema(), {
      minItems: 1,
      description:
        "Policies with targets. Precedence: the policies of the route itself, then targets by route name, listener, port and gateway; rules are combined.",
    }),
    backends: listOfParts(namedBackendSchema(), {
      minItems: 1,
      description: "Named backends that several routes can use with `backend: NAME`.",
    }),
    services: listOfParts(declaredServiceSchema(), {
      minItems: 1,
      description:
        "Services whose servers an endpoint picker knows; backends refer to them with `service`.",
    }),
    workloads: unsupportedBut("workloads of a mesh", SERVICE_INSTEAD),
    llm: llmSchema(),
    mcp: mcpDoorSchema(),
    gateways: gatewaysSchema(),
    routes: listOfParts(attachedRouteSchema(), {
      description: "Routes for the requests of `gateways`.",
    }),
    tcpRoutes: listOfParts(attachedTcpRouteSchema(), {
      description: "Routes for the connections of TCP and TLS `gateways`.",
    }),
    routeGroups: listOfParts(routeGroupSchema(), {
      minItems: 1,
      description:
        "Groups of routes that other routes delegate to, with `routeGroup: NAME` as a backend.",
    }),
    ui: ignored(
      "no gateway serves an admin page",
      "use `gwc run`, which opens one on the address of config.adminAddr",
    ),
  };
}
