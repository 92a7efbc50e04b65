import { type HttpPort, type HttpPortSettings, httpPort as open } from "../../gateway/http-port.ts";
import type { Port } from "../../gateway/port.ts";

/** Replaces gateway/http-port.ts: remembers the settings of each port. */
export function httpPort(settings: HttpPortSettings): HttpPort {
  const port = open(settings);
  SETTINGS.set(port, settings);
  return port;
}

const SETTINGS = new WeakMap<Port, HttpPortSettings>();

/** Returns the settings of a port; `undefined` if it does not serve HTTP. */
export function portSettings(port: Port): HttpPortSettings | undefined {
  return SETTINGS.get(port);
}
