import {
  type Infer,
  listOfParts,
  object,
  shortText,
  text,
  unsupported,
  unsupportedBut,
} from "../../schema/schema.ts";
import { attachedPolicySchema } from "./attached-policy.ts";
import { namedBackendSchema } from "./backend.ts";
import { frontendSchema } from "./frontend.ts";
import { bindSchema } from "./listener.ts";
import { llmSchema } from "./llm.ts";
import { mcpDoorSchema } from "./mcp.ts";
import { policiesElsewhere } from "./policies.ts";
import { processSchema } from "./process.ts";
import { routeSchema } from "./route.ts";
import { declaredServiceSchema } from "./services.ts";

/** What a standalone file says. */
export type StandaloneFile = Infer<ReturnType<typeof standaloneSchema>>;

/** An item of `routeGroups` as the schema lets it through. */
export type RouteGroupValue = Infer<ReturnType<typeof routeGroupSchema>>;

function routeGroupSchema() {
  return object(
    {
      name: shortText("What routes call it."),
      routes: listOfParts(routeSchema(), {
        minItems: 1,
        description: "What it answers, of the requests that come to it.",
      }),
    },
    { required: ["name", "routes"], hasParts: true },
  );
}

/** The standalone file (`gwc -f FILE`): the whole shape, as `gwc schema` prints it for editors. */
export function standaloneSchema() {
  return object(standaloneFields(), {
    atLeastOneOf: ["binds", "llm", "mcp"],
    hasParts: true,
    misplacedFieldHints: policiesElsewhere,
    title: "gwc gateway",
    description: "A gateway for MCP, LLM and HTTP traffic.",
  });
}

/** Its fields, for whoever takes some of them. */
export function standaloneFields() {
  return {
    name: text("What the gateway is called (default: the file's name, without its extension).", {
      pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$",
      form: 'letters, digits, ".", "_" and "-"',
      maxLength: 63,
    }),
    config: processSchema,
    binds: listOfParts(bindSchema(), {
      minItems: 1,
      description: "Ports that the gateway listens on.",
    }),
    frontendPolicies: frontendSchema(),
    policies: listOfParts(attachedPolicySchema(), {
      minItems: 1,
      description:
        "Policies that say themselves what they are about. What a route says counts more, then those of its name, of its listener, of the port, and of the gateway; rules are joined.",
    }),
    backends: listOfParts(namedBackendSchema(), {
      minItems: 1,
      description: "Backends with a name, for several routes: `backend: NAME` means them.",
    }),
    services: listOfParts(declaredServiceSchema(), {
      minItems: 1,
      description:
        "Services whose servers an endpoint picker knows: `service` of a backend means one.",
    }),
    workloads: unsupported("mesh workloads"),
    llm: llmSchema(),
    mcp: mcpDoorSchema(),
    gateways: unsupported("named gateways"),
    routes: unsupportedBut(
      "routes outside a listener",
      "write them below a listener: binds: [{ port: 3000, listeners: [{ routes: [...] }] }]",
    ),
    tcpRoutes: unsupported("TCP routes"),
    routeGroups: listOfParts(routeGroupSchema(), {
      minItems: 1,
      description: "Routes that others delegate to: `routeGroup: NAME` in the place of a backend.",
    }),
    ui: unsupported("a protected admin page"),
  };
}
