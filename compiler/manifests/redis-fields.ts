import { boolean, text } from "../schema/schema.ts";

/** Returns the fields of Redis that files and manifests have in common. */
export function redisFields() {
  return {
    prefix: text(
      "Beginning of the names of all keys and channels; by default `gwc:`, the gateway's name and `:`. Gateways with the same prefix share their state.",
      {
        pattern: "^[A-Za-z0-9:._/@-]{1,128}$",
        form: 'letters, digits, ":", ".", "_", "/", "@" and "-"',
        examples: ["shop:"],
      },
    ),
    cluster: boolean("Whether the server is a node of a Redis Cluster.", { default: false }),
    sentinel: text("Name of the primary, if the URL is that of a Redis Sentinel.", {
      maxLength: 128,
    }),
  };
}
