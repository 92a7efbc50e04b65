import { type AddressInfo, createServer, type Server } from "node:net";

/** Opens a server's port. Resolves with the real one. `reusePort`: others listen on it too, and each gets its share. */
export function listenOn(
  server: Server,
  port: number,
  host: string | undefined,
  reusePort = false,
): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host, backlog: 511, reusePort }, () => {
      server.off("error", reject);
      // A listening TCP server has an AddressInfo.
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** Rejects when somebody listens on a port already, whether or not the port could be shared with them. */
export async function checkPort(port: number, host: string | undefined): Promise<void> {
  const server = createServer();
  await listenOn(server, port, host);
  await new Promise((resolve) => server.close(resolve));
}
