import { duration, integer, object, unsupported } from "./schema.ts";

/** What both forms say of TCP keepalive; `time` spells a time as one of them does. */
export function keepAliveFields(time: typeof duration) {
  const probing = { minimumDuration: "1s", default: "180s" };
  return {
    time: time("Silence before the first probe; whole seconds.", probing),
    interval: time("Between two probes; whole seconds.", probing),
    retries: integer("Probes without a response before the connection is given up.", 1, 64, {
      default: 9,
    }),
  };
}

/** TCP keepalive: `keepalives` or `keepalive`. */
export function keepAliveSchema() {
  return object(
    {
      ...keepAliveFields(duration),
      enabled: unsupported("connections without TCP keepalive"),
    },
    { description: "TCP keepalive: finds peers that are gone without a word." },
  );
}
