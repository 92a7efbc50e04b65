import { isIP } from "node:net";
import { childOf, type Diagnostics } from "../../../diagnostics/diagnostic.ts";
import type { ManifestOf } from "../../../manifests/manifests.ts";

/**
 * Returns the IP addresses that a Gateway requests, which its Service requests from the load balancer; empty for
 * any. Reports addresses that a Service cannot have.
 */
export function requestedAddresses(
  { spec, origin }: ManifestOf<"Gateway">,
  diagnostics: Diagnostics,
): readonly string[] {
  const addresses = spec?.addresses ?? [];
  return addresses.flatMap(({ type = "IPAddress", value = "" }, index) => {
    const at = childOf(origin, "spec", "addresses", index);
    if (type !== "IPAddress") {
      const params = { problem: `has the type "${type}"`, cause: "UnsupportedAddress" } as const;
      diagnostics.report("gateway-address", childOf(at, "type"), params);
      return [];
    }
    // Without a value, any address of the type is accepted.
    if (value === "") return [];
    if (isIP(value) !== 0) return [value];
    const params = { problem: "is not an IP address", cause: "AddressNotUsable" } as const;
    diagnostics.report("gateway-address", childOf(at, "value"), params);
    return [];
  });
}
