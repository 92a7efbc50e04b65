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
import { groupName, kindName, nameOf, port, resource } from "./field-types.ts";

const labels = map(anyText({ maxLength: 63 }), {
  minProperties: 1,
  maxProperties: 64,
  description: "Labels of the pods of the pool.",
});

const pickerFields = {
  group: { ...groupName, default: "" },
  kind: { ...kindName, default: "Service" },
  name: nameOf("Service"),
  failureMode: choice(
    "Handling of requests for which the picker selects no endpoint: 503, or any endpoint.",
    ["FailOpen", "FailClose"],
    { default: "FailClose" },
  ),
};

/** InferencePool of the Gateway API inference extension: `v1`, and `v1alpha2` with other names for the same fields. */
export const inferencePoolSchema = resource(
  object(
    {
      selector: map(either(anyText({ maxLength: 63 }), labels, { description: "A value." }), {
        minProperties: 1,
        description: "Selector of the pods: `matchLabels`, or in v1alpha2 the labels themselves.",
        checks: [
          {
            message: "use either matchLabels or plain labels",
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
        description: "Ports of the model servers in the pods.",
      }),
      targetPortNumber: integer("Port of the model servers in the pods, in v1alpha2.", 1, 65535),
      appProtocol: choice(
        "Protocol of the model servers: HTTP/1.1, or HTTP/2 without TLS as `kubernetes.io/h2c`.",
        ["http", "kubernetes.io/h2c"],
        { default: "http" },
      ),
      endpointPickerRef: object(
        {
          ...pickerFields,
          port: object({ number: port }, { required: ["number"], description: "Its port." }),
        },
        { required: ["name"], description: "Service that selects an endpoint for each request." },
      ),
      extensionRef: object(
        {
          ...pickerFields,
          portNumber: integer("Port of the picker.", 1, 65535, { default: 9002 }),
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
          message:
            'exactly one of "targetPorts" and "targetPortNumber" is required: they are two names of the same field',
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
