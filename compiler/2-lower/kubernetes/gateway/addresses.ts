import { isIP } from "node:net";
import { childOf, type Diagnostics } from "../../../diagnostics/diagnostic.ts";
import type { ManifestOf } from "../../../manifests/manifests.ts";

/**
 * The address that a Gateway asks for, which its Service asks the load balancer for; undefined: any. What no Service can
 * have is reported.
 */
export function requestedAddress(
  { spec, origin }: ManifestOf<"Gateway">,
  diagnostics: Diagnostics,
): string | undefined {
  const addresses = spec?.addresses ?? [];
  let found: string | undefined;
  for (const [index, { type = "IPAddress", value = "" }] of addresses.entries()) {
    const at = childOf(origin, "spec", "addresses", index);
    if (type !== "IPAddress") {
      const problem = `has the type "${type}"`;
      diagnostics.report("gateway-address", childOf(at, "type"), {
        problem,
        cause: "UnsupportedAddress",
      });
      continue;
    }
    // Without a value any address of the type is good.
    if (value === "") continue;
    const problem =
      isIP(value) === 0
        ? "is no IP address"
        : found === undefined
          ? undefined
          : `comes after ${found}, and a Service asks for one`;
    if (problem === undefined) found = value;
    else
      diagnostics.report("gateway-address", childOf(at, "value"), {
        problem,
        cause: "AddressNotUsable",
      });
  }
  return found;
}
