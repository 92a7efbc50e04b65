import { list, notYet, object, type Schema } from "../../schema/schema.ts";
import { namedBackendSchema } from "./backend.ts";
import { frontendSchema } from "./frontend.ts";
import { bindSchema } from "./listener.ts";
import { processSchema } from "./process.ts";

/** The standalone file (`gwc -f FILE`): the whole shape, as `gwc schema` prints it for editors. */
export function standaloneSchema(): Schema {
  return object(
    {
      config: processSchema,
      binds: list(bindSchema(), { minItems: 1, description: "Ports that the gateway listens on." }),
      frontendPolicies: frontendSchema(),
      policies: notYet("policies that are attached to a target by name"),
      backends: list(namedBackendSchema(), {
        minItems: 1,
        description: "Backends with a name, for several routes: `backend: NAME` means them.",
      }),
      services: notYet("mesh services"),
      workloads: notYet("mesh workloads"),
      llm: notYet("the LLM front door"),
      mcp: notYet("the MCP front door"),
      gateways: notYet("named gateways"),
      routes: notYet("routes outside a listener"),
      tcpRoutes: notYet("TCP routes"),
      routeGroups: notYet("route groups"),
      ui: notYet("a protected admin page"),
    },
    {
      required: ["binds"],
      title: "gwc gateway",
      description: "A gateway for MCP, LLM and HTTP traffic.",
    },
  );
}
