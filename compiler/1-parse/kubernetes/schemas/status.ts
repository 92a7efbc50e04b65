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
    type: text("Type of the condition.", { maxLength: 316 }),
    status: choice("Status of the condition.", ["True", "False", "Unknown"]),
    reason: text("Why, in a word.", { maxLength: 1024 }),
    message: { type: "string", maxLength: 32768, description: "Why, in a sentence." },
    observedGeneration: { type: "integer", minimum: 0 },
    lastTransitionTime: text("Time of the last change of the status."),
  },
  { required: ["type", "status", "reason", "message", "lastTransitionTime"] },
);

/** The status of a GatewayBackend. */
export const backendStatusSchema = object({
  conditions: list(condition, { maxItems: 8, listKey: "type" }),
});

const reference = object(
  {
    ...{ group: groupName, kind: kindName, namespace: namespaceName, name: objectName },
    ...{ sectionName, port },
  },
  { required: ["name"] },
);

/** Fields of a status for one of several other resources. */
const ofOne = {
  controllerName: text("Controller that wrote it: DOMAIN/PATH.", {
    maxLength: 253,
    pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/.+$",
  }),
  conditions: list(condition, { listKey: "type" }),
};

/** Status of a GatewayPolicy for each of its targets. */
export const policyStatusSchema = object({
  conditions: list(condition, { listKey: "type" }),
  ancestors: list(
    object({ ancestorRef: reference, ...ofOne }, { required: ["ancestorRef", "controllerName"] }),
    { maxItems: 16 },
  ),
});

/** Status of a GatewayModel for each of its parents. */
export const modelStatusSchema = object({
  parents: list(
    object({ parentRef: reference, ...ofOne }, { required: ["parentRef", "controllerName"] }),
    { maxItems: 16 },
  ),
});
