import { integer, list, object, shortText } from "../../schema/schema.ts";

/**
 * A dynamic forward proxy: the destination is what the client names. The specification gives it no fields; ours only
 * widen what is refused without them. `defaults`: the port of a destination that names none.
 */
export function dynamicSchema(namedBy: string, defaults: string) {
  return object(
    {
      port: integer(`The port of a ${namedBy} that names none: ${defaults} by default.`, 1, 65535),
      allowPrivate: list(
        shortText("An address, or a range in CIDR notation.", {
          format: "cidr",
          examples: ["10.0.0.0/8"],
        }),
        {
          minItems: 1,
          maxItems: 64,
          description:
            "Addresses that may be reached although they are not public: loopback, private and link-local ones are " +
            "refused otherwise. A cloud's metadata address has to be named by itself.",
        },
      ),
    },
    { description: `The destination is the host that each ${namedBy} names.` },
  );
}
