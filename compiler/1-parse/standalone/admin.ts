import { type Infer, list, object, shortText, text } from "../../schema/schema.ts";

/** Type of a valid `admin`. */
export type AdminValue = Infer<ReturnType<typeof adminSchema>>;

/** Returns the schema of access to the admin page. */
export function adminSchema() {
  return object(
    {
      key: object(
        {
          file: text(
            'Path of a file with the key: the key itself, of at least 16 characters, or `{"keyHash": "sha256:..."}`. Read again whenever it changes; a new key ends all logins.',
          ),
        },
        {
          required: ["file"],
          description:
            "Key with which people log in. With it, `adminAddr` may be an address beyond loopback.",
        },
      ),
      hostnames: list(
        shortText("A host name.", {
          pattern: "^[a-z0-9][a-z0-9-]{0,62}(\\.[a-z0-9-]{1,63})*$",
          form: 'a lower-case host name such as "admin.example.com"',
        }),
        {
          minItems: 1,
          maxItems: 20,
          uniqueItems: true,
          description:
            "Names under which browsers reach the page, such as that of a route in front of it. Requests for other names are refused, because a site could point its own name at the page.",
          examples: [["admin.example.com"]],
        },
      ),
    },
    {
      atLeastOneOf: ["key", "hostnames"],
      description: "Access to the admin page of `gwc run` from other machines.",
    },
  );
}
