import { type Infer, integer, object, text } from "../../schema/schema.ts";

/** Type of a valid `keysApi`. */
export type KeysApiValue = Infer<ReturnType<typeof keysApiSchema>>;

/** Returns the schema of the HTTP API for keys of the store. */
export function keysApiSchema() {
  return object(
    {
      port: integer("The TCP port, which serves nothing else.", 1, 65535, { default: 15_030 }),
      address: text("IP address of the port.", { format: "ip", default: "127.0.0.1" }),
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
    {
      required: ["key"],
      description:
        "HTTP API that makes, lists, changes and revokes API keys of the store, on a port of its own. Off by default. Its OpenAPI document is at `/openapi.json`.",
    },
  );
}
