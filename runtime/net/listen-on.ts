import type { AddressInfo, Server } from "node:net";

/** Opens a server's port. Resolves with the real one. */
export function listenOn(server: Server, port: number, host: string | undefined): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host, backlog: 511 }, () => {
      server.off("error", reject);
      // A listening TCP server has an AddressInfo.
      resolve((server.address() as AddressInfo).port);
    });
  });
}
