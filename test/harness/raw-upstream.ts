import type { Socket } from "node:net";
import { startTcpServer } from "./tcp-server.ts";

/** The URL of an upstream that writes its bytes itself: what no well-behaved HTTP server sends. */
export async function startRawUpstream(serve: (socket: Socket) => void): Promise<string> {
  const { port } = await startTcpServer(serve, { allowHalfOpen: false });
  return `http://127.0.0.1:${port}`;
}
