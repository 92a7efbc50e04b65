import { mcpFields } from "../../backends/mcp/file-form.ts";
import { type Infer, ignored, integer, object, text } from "../../schema/schema.ts";
import { ownPoliciesSchema } from "./backend-policies.ts";
import { gatewayRefsSchema, OWN_PORT, withoutGateways } from "./gateway.ts";
import { routePoliciesSchema } from "./policies.ts";

/** Default port of `mcp`. */
export const MCP_PORT = 3000;

/** Type of a valid `mcp`. */
export type McpDoorValue = Infer<ReturnType<typeof mcpDoorSchema>>;

/** Schema of `mcp`: MCP servers on their own port. */
export function mcpDoorSchema() {
  return object(
    {
      port: integer("The TCP port.", 1, 65535, { default: MCP_PORT }),
      address: text("IP address of the port, as in a bind.", {
        format: "ip",
      }),
      ...mcpFields(ownPoliciesSchema("target")),
      dnsRebindingProtection: ignored("pages of other origins are always refused", "remove it"),
      policies: routePoliciesSchema(),
      gateways: gatewayRefsSchema("the servers", OWN_PORT),
    },
    {
      required: ["targets"],
      hasParts: true,
      checks: withoutGateways(["port", "address"]),
      description:
        "MCP servers on their own port, at every path: short for a route with one `mcp` backend.",
    },
  );
}
