import type { ServiceReference } from "../../model/server-address.ts";
import { integer, object, type Schema, shortText } from "../../schema/schema.ts";

/** Schema of `service`, which names a server of the file. */
export const serviceReferenceSchema: Schema<ServiceReference> = object(
  {
    name: shortText("`NAMESPACE/NAME` of one of the file's `services`.", {
      pattern: "^[^/]+/[^/]+$",
      form: "NAMESPACE/NAME",
      refersTo: ["service"],
      examples: ["default/my-model"],
    }),
    port: integer("Port of the service.", 1, 65_535),
  },
  { required: ["name", "port"], description: "One of the file's `services`." },
);
