import { type Infer, integer, list, map, object, shortText } from "../../schema/schema.ts";

/** An item of the file's `services` as the schema lets it through. */
export type ServiceValue = Infer<ReturnType<typeof declaredServiceSchema>>;

/** A service that is meant, as the schema lets it through. */
export type ServiceReferenceValue = Infer<ReturnType<typeof serviceReferenceSchema>>;

/** An item of the file's `services`. */
export function declaredServiceSchema() {
  return object(
    {
      name: shortText("What backends call it, after its namespace.", { examples: ["my-model"] }),
      namespace: shortText("Its namespace.", { default: "default" }),
      hostname: shortText(
        "Its name in DNS, which requests to it have for TLS and metrics; backends may call it by that as well.",
        { format: "hostname" },
      ),
      vips: list(shortText("An address."), {
        maxItems: 0,
        examples: [[]],
        description: "Empty: a file knows no addresses of services besides those of their names.",
      }),
      ports: map(integer("The port of its servers.", 1, 65_535), {
        minProperties: 1,
        propertyNames: { pattern: "^[1-9][0-9]{0,4}$", form: "a port" },
        description: "The ports of its servers by its own.",
        examples: [{ 8000: 8000 }],
      }),
    },
    { required: ["name", "hostname", "ports"] },
  );
}

/** `service` of a backend. */
export function serviceReferenceSchema() {
  return object(
    {
      name: shortText("`NAMESPACE/NAME` of one of the file's `services`.", {
        pattern: "^[^/]+/[^/]+$",
        form: "NAMESPACE/NAME",
        examples: ["default/my-model"],
      }),
      port: integer("One of its ports.", 1, 65_535),
    },
    {
      required: ["name", "port"],
      description: "One of the file's `services`, with `policies.inferenceRouting`.",
    },
  );
}
