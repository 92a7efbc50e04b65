import type { KeepAliveSettings } from "../../runtime/net/connection-settings.ts";
import { parseTimer } from "./duration.ts";
import { duration, type Infer, integer, object, unsupported } from "./schema.ts";

/** Returns the fields of TCP keepalive that files and manifests share; `time` is the duration schema of one of them. */
export function keepAliveFields(time: typeof duration) {
  const probing = { minimumDuration: "1s", default: "180s" };
  return {
    time: time("Idle time before the first probe, in whole seconds.", probing),
    interval: time("Time between two probes, in whole seconds.", probing),
    retries: integer("Unanswered probes before the connection is closed.", 1, 64, {
      default: 9,
    }),
  };
}

/** Schema of TCP keepalive: `keepalives` or `keepalive`. */
export function keepAliveSchema() {
  return object(
    {
      ...keepAliveFields(duration),
      enabled: unsupported("connections without TCP keepalive"),
    },
    {
      description: "TCP keepalive: detects peers that disappeared without closing the connection.",
    },
  );
}

/** Resolves TCP keepalive with its defaults, in milliseconds. */
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

/** Rounds to whole seconds, because sockets accept nothing finer. */
function wholeSeconds(text: string | undefined, rest: number): number {
  const time = text === undefined ? undefined : parseTimer(text);
  return Math.ceil((time ?? rest) / 1000) * 1000;
}
