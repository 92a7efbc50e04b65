import { redisFields } from "../../manifests/redis-fields.ts";
import { type Infer, object, text } from "../../schema/schema.ts";

/** Type of a valid `store`. */
export type StoreValue = Infer<ReturnType<typeof storeSchema>>;

/** Returns the schema of the store that replicas share. */
export function storeSchema() {
  return object(
    {
      redis: object(
        {
          url: text(
            "`redis://USER:PASSWORD@HOST:PORT/DATABASE`, or `rediss://` for TLS; best as `${NAME}`, which is read from the environment when the gateway starts. With `${NAME:-}`, a gateway may start without, and shares nothing.",
            { readAtStart: true, secret: true, maxLength: 1024, examples: ["${REDIS_URL}"] },
          ),
          ...redisFields(),
        },
        { required: ["url"], description: "A server with the protocol of Redis 6.2 or newer." },
      ),
    },
    {
      required: ["redis"],
      description:
        "State that replicas share: limits (`localRateLimit`), and API keys made at run time. Without it, each process counts for itself, and such keys are in a file of `GWC_STATE_DIR`.",
    },
  );
}
