import { type HttpPort, type HttpPortSettings, httpPort as open } from "../../gateway/http-port.ts";
import type { Port } from "../../gateway/port.ts";

/** In the place of gateway/http-port.ts: the port says what it was made of. */
export function httpPort(settings: HttpPortSettings): HttpPort {
  const port = open(settings);
  known.set(port, settings);
  return port;
}

const known = new WeakMap<Port, HttpPortSettings>();

/** What a port was made of; undefined: it speaks no HTTP. */
export function portSettings(port: Port): HttpPortSettings | undefined {
  return known.get(port);
}
