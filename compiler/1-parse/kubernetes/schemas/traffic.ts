import { choice } from "../../../schema/schema.ts";
import { policyFields } from "../policy-fields.ts";

/** PreRouting rules run before the route is chosen, and may change which one it is. */
const phase = choice("Before or after the route is chosen.", ["PreRouting", "PostRouting"], {
  default: "PostRouting",
});

/** The fields of a GatewayPolicy's `traffic`. */
export function trafficFields() {
  return {
    phase,
    ...policyFields("traffic"),
  };
}
