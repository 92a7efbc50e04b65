import {
  groupName,
  kindName,
  namespaceName,
  objectName,
  port,
  sectionName,
} from "../../../manifests/field-types.ts";
import { choice, list, object, text } from "../../../schema/schema.ts";

/** metav1.Condition */
const condition = object(
  {
    type: text("What is said.", { maxLength: 316 }),
    status: choice("Whether it holds.", ["True", "False", "Unknown"]),
    reason: text("Why, in a word.", { maxLength: 1024 }),
    message: { type: "string", maxLength: 32768, description: "Why, in a sentence." },
    observedGeneration: { type: "integer", minimum: 0 },
    lastTransitionTime: text("When it last changed."),
  },
  { required: ["type", "status", "reason", "message", "lastTransitionTime"] },
);

/** The status of a GatewayBackend. */
export const backendStatusSchema = object({
  conditions: list(condition, { maxItems: 8, listKey: "type" }),
});

/** The status of a GatewayPolicy: what each of its targets makes of it. */
export const policyStatusSchema = object({
  conditions: list(condition, { listKey: "type" }),
  ancestors: list(
    object(
      {
        ancestorRef: object(
          {
            ...{ group: groupName, kind: kindName, namespace: namespaceName, name: objectName },
            ...{ sectionName, port },
          },
          { required: ["name"] },
        ),
        controllerName: text("Who says so: DOMAIN/PATH.", {
          maxLength: 253,
          pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/.+$",
        }),
        conditions: list(condition, { listKey: "type" }),
      },
      { required: ["ancestorRef", "controllerName"] },
    ),
    { maxItems: 16 },
  ),
});
