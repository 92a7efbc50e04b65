import { duration, integer, object, unsupported } from "./schema.ts";

/** TCP keepalive: `keepalives` or `keepalive`. */
export function keepAliveSchema() {
  return object(
    {
      time: duration("Silence before the first probe; whole seconds.", {
        minimumDuration: "1s",
        default: "180s",
      }),
      interval: duration("Between two probes; whole seconds.", {
        minimumDuration: "1s",
        default: "180s",
      }),
      retries: integer("Probes without a response before the connection is given up.", 1, 64, {
        default: 9,
      }),
      enabled: unsupported("connections without TCP keepalive"),
    },
    { description: "TCP keepalive: finds peers that are gone without a word." },
  );
}
