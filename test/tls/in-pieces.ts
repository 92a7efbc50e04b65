import { type AddressInfo, connect as connectTcp, createServer } from "node:net";
import { onTestFinished } from "vitest";

/** The port of somebody who passes what a client says on, one byte after the other. */
export async function inPieces(to: number): Promise<number> {
  const server = createServer((socket) => {
    const other = connectTcp({ port: to, host: "127.0.0.1", noDelay: true });
    let way = Promise.resolve();
    socket.on("data", (chunk) => {
      for (const byte of chunk)
        way = way.then(
          () => new Promise((resolve) => other.write(Buffer.of(byte), () => setImmediate(resolve))),
        );
    });
    socket.on("end", () => way.then(() => other.end()));
    other.pipe(socket);
    for (const each of [socket, other]) each.on("error", () => {});
  });
  onTestFinished(() => {
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}
