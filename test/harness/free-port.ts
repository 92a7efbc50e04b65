import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { createServer } from "node:net";

/** The first port, and how many there are for each of so many processes. */
const [FIRST, PORTS, PARTS] = [20_000, 1_500, 8];

/**
 * Returns a port that nobody listens on, for a process that cannot choose one itself. It is below the range from which
 * systems take ports of connections (32768 and up, IANA 49152 and up). Each test process has a part of that range. Test
 * processes, also of another run, reserve a port until they end by binding a UDP socket with its number, which nobody
 * else needs.
 */
export async function freePort(): Promise<number> {
  const part = Number(process.env.VITEST_POOL_ID ?? 0) % PARTS;
  const port = FIRST + part * PORTS + randomInt(PORTS);
  return (await isClaimed(port)) && (await isFree(port)) ? port : freePort();
}

/** Claims a port for this process; false when it is somebody's already. */
function isClaimed(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const claim = createSocket("udp4").unref();
    claim.once("error", () => claim.close(() => resolve(false)));
    claim.bind({ address: "127.0.0.1", port, exclusive: true }, () => resolve(true));
  });
}

/** Whether nobody listens on a port, on any address. */
function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });
}

/** So many of them, no two of which are the same. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}
