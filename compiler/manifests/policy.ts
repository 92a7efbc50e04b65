import {
  anyText,
  choice,
  integer,
  list,
  map,
  object,
  type Schema,
  type ValueCheck,
} from "../schema/schema.ts";
import {
  groupName,
  kindName,
  nameOf,
  resource,
  sectionName,
  sectionReference,
} from "./field-types.ts";

/** Values of policy fields by name, validated by their schemas. */
export type PolicyFields = Readonly<Record<string, unknown>>;

const portOfTarget = integer(
  "Port of a Gateway that the fields of `frontend` apply to, instead of to all of its ports.",
  1,
  65_535,
);

const target = object(
  {
    group: groupName,
    kind: kindName,
    name: nameOf("Gateway", "HTTPRoute", "GatewayBackend", "Service"),
    sectionName: sectionReference,
    port: portOfTarget,
  },
  { required: ["group", "kind", "name"], atMostOneOf: ["sectionName", "port"] },
);

const targetSelector = object(
  {
    group: groupName,
    kind: kindName,
    matchLabels: map(anyText({ maxLength: 63 }), {
      description: "Labels with the required values.",
    }),
    sectionName,
    port: portOfTarget,
  },
  { required: ["group", "kind", "matchLabels"], atMostOneOf: ["sectionName", "port"] },
);

const isOfTraffic: ValueCheck = {
  message: '"strategy" requires "traffic", and applies to no other section',
  field: "strategy",
  holds: ({ strategy, traffic, frontend, backend }) =>
    strategy === undefined ||
    (traffic !== undefined && frontend === undefined && backend === undefined),
  cel: "!has(self.strategy) || (has(self.traffic) && !has(self.frontend) && !has(self.backend))",
};

/** Schema of GatewayPolicy with sections of policies. */
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
            "Targets by name: Gateways, routes, Services, GatewayBackends, parts of these, or InferencePools.",
        }),
        targetSelectors: list(targetSelector, {
          minItems: 1,
          maxItems: 16,
          description: "Targets by labels.",
        }),
        strategy: object(
          {
            inheritance: choice(
              "Whether policies at more specific places override the fields of `traffic`: `Default`, or `Override`, with which they do not and their rules are not added.",
              ["Default", "Override"],
              { default: "Default" },
            ),
          },
          { description: "How the policy is merged with others." },
        ),
        ...sections,
      },
      {
        checks: [isOfTraffic],
        exactlyOneOf: ["targetRefs", "targetSelectors"],
        hasParts: true,
      },
    ),
  );
}
