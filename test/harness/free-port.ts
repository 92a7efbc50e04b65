import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

/** A port that nobody listens on now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0);
  await once(server, "listening");
  // A TCP server's address is an object.
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
