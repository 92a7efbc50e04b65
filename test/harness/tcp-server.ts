import { createServer, type Socket } from "node:net";
import { listen } from "./listen.ts";

/** A server of raw connections. */
export interface TcpServer {
  readonly port: number;
  /** All its connections so far. */
  readonly sockets: readonly Socket[];
}

/** Starts one. With `allowHalfOpen` the end of a client's bytes is not the end of the server's, as unless given. */
export async function startTcpServer(
  serve: (socket: Socket) => void,
  { allowHalfOpen = true }: { readonly allowHalfOpen?: boolean } = {},
): Promise<TcpServer> {
  const sockets: Socket[] = [];
  const server = createServer({ allowHalfOpen }, (socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    serve(socket);
  });
  const port = await listen(server);
  return { port, sockets };
}
