import type { Origin } from "../../diagnostics/diagnostic.ts";
import type { BackendUse, LowerContext } from "../backend.ts";
import { lowerMcp, type McpValue } from "./file-form.ts";
import type { McpConfig } from "./mcp-config.ts";

/** Returns the backend of the `mcp` section of a file. */
export function serversOfDoor(
  value: McpValue,
  origin: Origin,
  policies: LowerContext["policies"],
): BackendUse<McpConfig> & { readonly kind: "mcp" } {
  return { kind: "mcp", config: lowerMcp(value, { origin, policies }), origin };
}
