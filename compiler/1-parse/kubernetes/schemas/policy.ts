import {
  groupName,
  kindName,
  objectName,
  resource,
  sectionName,
} from "../../../manifests/field-types.ts";
import { anyText, choice, list, map, object } from "../../../schema/schema.ts";
import { backendPolicies, type SupportedFields } from "./backend.ts";
import { frontendFields } from "./frontend.ts";
import { trafficFields } from "./traffic.ts";

const target = object(
  { group: groupName, kind: kindName, name: objectName, sectionName },
  { required: ["group", "kind", "name"] },
);

const targetSelector = object(
  {
    group: groupName,
    kind: kindName,
    matchLabels: map(anyText({ maxLength: 63 })),
    sectionName,
  },
  { required: ["group", "kind", "matchLabels"] },
);

/** PreRouting rules run before the route is chosen, and may change which one it is. */
const PHASES = choice("Before or after the route is chosen.", ["PreRouting", "PostRouting"], {
  default: "PostRouting",
});

/** GatewayPolicy; `built` are the fields of connections that this version enforces. */
export function policySchema(built: SupportedFields) {
  return resource(
    object(
      {
        targetRefs: list(target, { minItems: 1, maxItems: 16 }),
        targetSelectors: list(targetSelector, { minItems: 1, maxItems: 16 }),
        frontend: object(frontendFields),
        traffic: object({ phase: PHASES, ...trafficFields() }),
        backend: backendPolicies(["tcp", "tls", "http", "auth", "mcp", "ai"], built),
      },
      {
        exactlyOneOf: ["targetRefs", "targetSelectors"],
      },
    ),
  );
}
