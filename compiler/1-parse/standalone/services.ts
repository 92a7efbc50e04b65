import { type Infer, integer, list, map, object, shortText } from "../../schema/schema.ts";

/** Type of a valid item of the file's `services`. */
export type ServiceValue = Infer<ReturnType<typeof declaredServiceSchema>>;

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
