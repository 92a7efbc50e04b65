import type { KeepAlive } from "../../runtime/net/connection-settings.ts";
import { defaultKeepAlive } from "../../runtime/net/default-connections.ts";
import { parseTimer } from "./duration.ts";
import { boolean, duration, type Infer, integer, object } from "./schema.ts";

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
      enabled: boolean("Whether probes are sent.", { default: true }),
    },
    {
      description: "TCP keepalive: detects peers that disappeared without closing the connection.",
      checks: [
        {
          message: '"enabled: false" excludes "time", "interval" and "retries"',
          field: "enabled",
          holds: ({ enabled, time, interval, retries }) =>
            enabled !== false || (time ?? interval ?? retries) === undefined,
          cel: "!has(self.enabled) || self.enabled || !(has(self.time) || has(self.interval) || has(self.retries))",
        },
      ],
    },
  );
}

/** Resolves TCP keepalive with its defaults, in milliseconds; `false` if it is disabled. */
export function readKeepAlive(value: Infer<ReturnType<typeof keepAliveSchema>>): KeepAlive {
  if (value.enabled === false) return false;
  const { time: idle, interval, retries } = defaultKeepAlive;
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
