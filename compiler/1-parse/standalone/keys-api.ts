import { KEYS_API, keysApiFields } from "../../manifests/keys-api.ts";
import { jwksSchema } from "../../policies/jwt-auth/jwks.ts";
import { type Infer, object, text } from "../../schema/schema.ts";

/** Type of a valid `keysApi`. */
export type KeysApiValue = Infer<ReturnType<typeof keysApiSchema>>;

/** Returns the schema of the HTTP API for keys of the store. */
export function keysApiSchema() {
  return object(
    {
      ...keysApiFields(jwksSchema),
      key: object(
        {
          file: text(
            'Path of a file, on the gateway\'s host, with the key: the key itself, or `{"keyHash": "sha256:..."}`. Read again whenever it changes.',
          ),
        },
        {
          required: ["file"],
          description: "Key that its clients send: `Authorization: Bearer KEY`.",
        },
      ),
    },
    { atLeastOneOf: ["key", "jwt"], description: KEYS_API },
  );
}
