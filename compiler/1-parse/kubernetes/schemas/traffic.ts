import { choice } from "../../../schema/schema.ts";
import { policyFields } from "../policy-fields.ts";

/** PreRouting rules run before the route is chosen and can affect that choice. */
const phase = choice(
  "Whether the policies run before or after the route is chosen.",
  ["PreRouting", "PostRouting"],
  {
    default: "PostRouting",
  },
);

/** Returns the fields of `traffic` in a GatewayPolicy. */
export function trafficFields() {
  return {
    phase,
    ...policyFields("traffic"),
  };
}
