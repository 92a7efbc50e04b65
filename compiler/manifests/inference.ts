import {
  anyText,
  choice,
  either,
  type Infer,
  integer,
  list,
  map,
  object,
} from "../schema/schema.ts";
import { groupName, kindName, objectName, port, resource } from "./field-types.ts";

const labels = map(anyText({ maxLength: 63 }), {
  minProperties: 1,
  maxProperties: 64,
  description: "Labels that the pods of the pool have.",
});

const pickerFields = {
  group: { ...groupName, default: "" },
  kind: { ...kindName, default: "Service" },
  name: objectName,
  failureMode: choice(
    "What becomes of requests for which the picker names no endpoint: 503, or any endpoint.",
    ["FailOpen", "FailClose"],
    { default: "FailClose" },
  ),
};

/** InferencePool of the Gateway API inference extension: `v1`, and `v1alpha2` with its own names of the same. */
export const inferencePoolSchema = resource(
  object(
    {
      selector: map(either(anyText({ maxLength: 63 }), labels, { description: "A value." }), {
        minProperties: 1,
        description: "The pods of the pool: `matchLabels`, or in v1alpha2 the labels themselves.",
        checks: [
          {
            message: "it is matchLabels alone, or labels",
            holds: (value) =>
              Object.entries(value).every(
                ([name, wanted], _, { length }) =>
                  typeof wanted === "string" || (name === "matchLabels" && length === 1),
              ),
            cel: "self.all(name, type(self[name]) == string || (name == 'matchLabels' && size(self) == 1))",
          },
        ],
      }),
      targetPorts: list(object({ number: port }, { required: ["number"] }), {
        minItems: 1,
        maxItems: 8,
        description: "The ports of the pods' model servers.",
      }),
      targetPortNumber: integer("The port of the pods' model servers, in v1alpha2.", 1, 65535),
      appProtocol: choice(
        "What the model servers speak: HTTP/1.1 or, as `kubernetes.io/h2c`, HTTP/2 without TLS.",
        ["http", "kubernetes.io/h2c"],
        { default: "http" },
      ),
      endpointPickerRef: object(
        {
          ...pickerFields,
          port: object({ number: port }, { required: ["number"], description: "Its port." }),
        },
        { required: ["name"], description: "Who names an endpoint for each request: a Service." },
      ),
      extensionRef: object(
        {
          ...pickerFields,
          portNumber: integer("The port of the picker.", 1, 65535, { default: 9002 }),
        },
        { required: ["name"], description: "The picker, in v1alpha2." },
      ),
    },
    {
      required: ["selector"],
      exactlyOneOf: ["endpointPickerRef", "extensionRef"],
      examples: [
        {
          selector: { matchLabels: { app: "model" } },
          targetPorts: [{ number: 8000 }],
          endpointPickerRef: { name: "picker", port: { number: 9002 } },
        },
      ],
      checks: [
        {
          message: '"targetPorts" and "targetPortNumber" are two names of one field; one is there',
          field: "targetPorts",
          holds: ({ targetPorts, targetPortNumber }) =>
            (targetPorts === undefined) !== (targetPortNumber === undefined),
          cel: "has(self.targetPorts) != has(self.targetPortNumber)",
        },
      ],
    },
  ),
);

/** An InferencePool. */
export type InferencePoolSpec = Infer<typeof inferencePoolSchema>["spec"];
