import { KiB, MINUTE, MiB, SECOND } from "../process/units.ts";
import type { ConnectionSettings, KeepAliveSettings } from "./connection-settings.ts";

/** TCP keepalive with clients if the configuration has none, and of backends for what it does not set. */
export const defaultKeepAlive: KeepAliveSettings = {
  time: 3 * MINUTE,
  interval: 3 * MINUTE,
  retries: 9,
};

/** Settings of client connections if the configuration has none: defaults of the compiler and of generated code. */
export const defaultConnections: ConnectionSettings = {
  keepAlive: defaultKeepAlive,
  maxHeaders: 100,
  minBodyRate: 240,
  idleTimeout: 10 * MINUTE,
  maxConnections: 10_000,
  http2: {
    windowSize: 256 * KiB,
    connectionWindowSize: 1 * MiB,
    frameSize: 16 * KiB,
    maxHeaderSize: 64 * KiB,
    keepAliveTimeout: 20 * SECOND,
  },
};
