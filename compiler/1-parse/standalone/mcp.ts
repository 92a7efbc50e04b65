import { mcpFields } from "../../backends/mcp/file-form.ts";
import { type Infer, integer, object, text, unsupported } from "../../schema/schema.ts";
import { ownPoliciesSchema } from "./backend-policies.ts";
import { routePoliciesSchema } from "./policies.ts";

/** The port of the front door unless it says another one. */
export const MCP_PORT = 3000;

/** `mcp` as the schema lets it through. */
export type McpDoorValue = Infer<ReturnType<typeof mcpDoorSchema>>;

/** The front door: MCP servers on a port of their own. */
export function mcpDoorSchema() {
  return object(
    {
      port: integer("The TCP port.", 1, 65535, { default: MCP_PORT }),
      address: text("The IP address that the port is open on, as that of a bind.", {
        format: "ip",
      }),
      ...mcpFields(ownPoliciesSchema("server")),
      policies: routePoliciesSchema(),
      gateways: unsupported("named gateways"),
    },
    {
      required: ["targets"],
      hasParts: true,
      description:
        "MCP servers on a port of their own, at every path of it: what a route with one `mcp` backend says, in short.",
    },
  );
}
