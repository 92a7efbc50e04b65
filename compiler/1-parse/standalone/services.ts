import { type Infer, integer, list, map, object, shortText } from "../../schema/schema.ts";

/** Type of a valid item of the file's `services`. */
export type ServiceValue = Infer<ReturnType<typeof declaredServiceSchema>>;

/** Type of a valid reference to a service. */
export type ServiceReferenceValue = Infer<ReturnType<typeof serviceReferenceSchema>>;

/** Schema of an item of the file's `services`. */
export function declaredServiceSchema() {
  return object(
    {
      name: shortText("Name that backends refer to, after the namespace.", {
        examples: ["my-model"],
        declares: "service",
      }),
      namespace: shortText("Its namespace.", { default: "default" }),
      hostname: shortText(
        "DNS name, which is used for TLS and metrics; backends can refer to it too.",
        { format: "hostname" },
      ),
      vips: list(shortText("An address."), {
        maxItems: 0,
        examples: [[]],
        description: "Must be empty: addresses are resolved by DNS.",
      }),
      ports: map(integer("Port of the servers.", 1, 65_535), {
        minProperties: 1,
        propertyNames: { pattern: "^[1-9][0-9]{0,4}$", form: "a port" },
        description: "Ports of the servers by port of the service.",
        examples: [{ 8000: 8000 }],
      }),
    },
    { required: ["name", "hostname", "ports"] },
  );
}

/** Schema of `service` of a backend. */
export function serviceReferenceSchema() {
  return object(
    {
      name: shortText("`NAMESPACE/NAME` of one of the file's `services`.", {
        pattern: "^[^/]+/[^/]+$",
        form: "NAMESPACE/NAME",
        refersTo: ["service"],
        examples: ["default/my-model"],
      }),
      port: integer("Port of the service.", 1, 65_535),
    },
    {
      required: ["name", "port"],
      description: "One of the file's `services`, with `policies.inferenceRouting`.",
    },
  );
}
