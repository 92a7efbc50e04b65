import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { eventually } from "./gateway-process.ts";

/** A real TCP server on a free loopback port; it is gone when the test has finished. */
export async function startTcpServer(
  serve: (socket: Socket) => void,
): Promise<{ port: number; sockets: Socket[] }> {
  const sockets: Socket[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    serve(socket);
  });
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { port: (server.address() as AddressInfo).port, sockets };
}

/** A TCP client that does nothing by itself. */
export class TcpClient {
  readonly socket: Socket;
  received = "";
  hasEnded = false;
  isClosed = false;
  error: string | undefined;

  constructor(port: number) {
    this.socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    this.socket.on("data", (chunk) => {
      this.received += chunk.toString("latin1");
    });
    this.socket.on("end", () => {
      this.hasEnded = true;
    });
    this.socket.on("error", (error: NodeJS.ErrnoException) => {
      this.error = error.code;
    });
    this.socket.on("close", () => {
      this.isClosed = true;
    });
    onTestFinished(() => {
      this.socket.destroy();
    });
  }

  send(bytes: string | Uint8Array): void {
    if (typeof bytes === "string") this.socket.write(bytes, "latin1");
    else this.socket.write(bytes);
  }

  async receives(text: string): Promise<void> {
    await eventually(() => this.received.includes(text) || null, `"${text}" on the connection`);
  }

  async ends(): Promise<void> {
    await eventually(() => this.hasEnded || this.isClosed || null, "the end of what comes");
  }

  async closes(): Promise<void> {
    await eventually(() => this.isClosed || null, "the end of the connection");
  }
}
