import type { KeepAliveSettings } from "../../runtime/net/connection-settings.ts";
import { parseTimer } from "./duration.ts";
import { duration, type Infer, integer, object, unsupported } from "./schema.ts";

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

/** Keepalive with its defaults, in milliseconds. */
export function readKeepAlive(
  value: Infer<ReturnType<typeof keepAliveSchema>>,
  { time: idle, interval, retries }: KeepAliveSettings,
): KeepAliveSettings {
  return {
    time: wholeSeconds(value.time, idle),
    interval: wholeSeconds(value.interval, interval),
    retries: value.retries ?? retries,
  };
}

/** Sockets count in seconds. */
function wholeSeconds(text: string | undefined, rest: number): number {
  const time = text === undefined ? undefined : parseTimer(text);
  return Math.ceil((time ?? rest) / 1000) * 1000;
}
