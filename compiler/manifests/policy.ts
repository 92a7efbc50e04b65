import { anyText, list, map, object, type Schema } from "../schema/schema.ts";
import { groupName, kindName, objectName, resource, sectionName } from "./field-types.ts";

/** Values of policy fields by name, checked by their schema. */
export type PolicyFields = Readonly<Record<string, unknown>>;

const target = object(
  { group: groupName, kind: kindName, name: objectName, sectionName },
  { required: ["group", "kind", "name"] },
);

const targetSelector = object(
  {
    group: groupName,
    kind: kindName,
    matchLabels: map(anyText({ maxLength: 63 }), {
      description: "Labels, each with the value that it must have.",
    }),
    sectionName,
  },
  { required: ["group", "kind", "matchLabels"] },
);

/** GatewayPolicy, of sections that say what policies mean. */
export function policySchema(sections: {
  readonly frontend: Schema<PolicyFields>;
  readonly traffic: Schema<PolicyFields>;
  readonly backend: Schema<PolicyFields>;
}) {
  return resource(
    object(
      {
        targetRefs: list(target, {
          minItems: 1,
          maxItems: 16,
          description:
            "What it is about, by name: Gateways, routes, Services, GatewayBackends, and parts of them, or InferencePools.",
        }),
        targetSelectors: list(targetSelector, {
          minItems: 1,
          maxItems: 16,
          description: "What it is about, by labels.",
        }),
        ...sections,
      },
      { exactlyOneOf: ["targetRefs", "targetSelectors"], hasParts: true },
    ),
  );
}
