/** The ports of a gateway process itself: its admin page, metrics and readiness. */
const OWN_PORTS: ReadonlySet<string> = new Set(["15000", "15020", "15021"]);

/** Whether a URL leads to what this machine alone is to reach of the gateway. Its parser has written the host in one form. */
export function isOwnPort({ hostname, port }: URL): boolean {
  return OWN_PORTS.has(port) && isThisMachine(hostname);
}

/** Whether a host in the form of a URL's parser stands for the machine, or the pod, that the gateway runs on. */
export function isThisMachine(hostname: string): boolean {
  return THIS_MACHINE.test(hostname);
}

/** Every address of 127.0.0.0/8, also in IPv6 form, and the ones that stand for all addresses of a machine. */
const THIS_MACHINE =
  /^(?:(?:.+\.)?localhost\.?|127(?:\.[0-9]+){3}|0\.0\.0\.0|\[::1?\]|\[::ffff:(?:7f[0-9a-f]{2}:[0-9a-f]+|0:0)\])$/i;
