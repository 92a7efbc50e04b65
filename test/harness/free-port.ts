import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** The first port, and how many there are for each of so many processes. */
const [FIRST, PORTS, PARTS] = [20_000, 1_500, 8];

/**
 * A port that nobody listens on now, for a process that cannot choose one itself. It lies below the range from which
 * systems take the ports of connections (32768 and up, IANA 49152 and up), where any of those could take it meanwhile; each
 * process of tests has a part of that range, as two could choose the same one before it is used.
 */
export function freePort(): Promise<number> {
  const part = Number(process.env.VITEST_POOL_ID ?? 0) % PARTS;
  const port = FIRST + part * PORTS + randomInt(PORTS);
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(freePort()));
    server.listen(port, () => server.close(() => resolve(port)));
  });
}

/** So many of them, no two of which are the same. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}
