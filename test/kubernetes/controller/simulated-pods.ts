import { createServer } from "node:http";
import { connect, createServer as createProxy } from "node:net";
import { atEnd } from "../../harness/at-end.ts";
import { listen } from "../../harness/listen.ts";

/** A server on every address of the machine, which answers with this text. */
export async function startPod(text: string): Promise<{ readonly port: number; stop(): void }> {
  const server = createServer((_, response) => response.end(text));
  await new Promise<void>((resolve) => {
    server.listen(0, () => resolve());
  });
  const bound = server.address();
  const port = typeof bound === "object" ? (bound?.port ?? 0) : 0;
  const stop = () => server.close().closeAllConnections();
  atEnd(stop);
  return { port, stop };
}

/** A port whose connections go on to the first of these that takes them. */
export async function startService(ports: readonly number[]): Promise<number> {
  const server = createProxy((socket) => {
    socket.on("error", () => {});
    const open = ([first, ...others]: readonly number[]): void => {
      if (first === undefined) {
        socket.destroy();
        return;
      }
      const target = connect(first, "127.0.0.1", () => {
        socket.pipe(target).pipe(socket);
        target.on("close", () => socket.destroy());
        socket.on("close", () => target.destroy());
      });
      target.on("error", () => {
        if (target.bytesRead === 0 && !socket.destroyed) open(others);
      });
    };
    open(ports);
  });
  atEnd(() => server.close());
  return listen(server);
}
