import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/**
 * A port that nobody listens on now, for a process that cannot choose one itself. It lies below the range from which
 * systems take the ports of connections (32768 and up, IANA 49152 and up), where any of those could take it meanwhile.
 */
export function freePort(): Promise<number> {
  const port = randomInt(20_000, 32_000);
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(freePort()));
    server.listen(port, () => server.close(() => resolve(port)));
  });
}
