/** Ports of the gateway process itself: admin page, metrics and readiness. */
const OWN_PORTS: ReadonlySet<string> = new Set(["15000", "15020", "15021"]);

/**
 * Whether a URL leads to a page of the gateway that only its machine should reach. The URL parser has normalized the
 * host.
 */
export function isOwnPort({ hostname, port }: URL): boolean {
  return OWN_PORTS.has(port) && isThisMachine(hostname);
}

/** Whether a normalized host is the machine or pod of the gateway itself. */
export function isThisMachine(hostname: string): boolean {
  return THIS_MACHINE.test(hostname);
}

/** Addresses of 127.0.0.0/8, also in IPv6 form, and the unspecified addresses. */
const THIS_MACHINE =
  /^(?:(?:.+\.)?localhost\.?|127(?:\.[0-9]+){3}|0\.0\.0\.0|\[::1?\]|\[::ffff:(?:7f[0-9a-f]{2}:[0-9a-f]+|0:0)\])$/i;
