import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { type BatchedWriter, WriteBatch } from "../../runtime/net/write-batch.ts";
import { listen } from "../harness/listen.ts";
import { startPlain } from "./plain-gateway.ts";

/** Writes messages, each when `held` lets it. */
class Messages implements BatchedWriter {
  readonly sent: string[] = [];
  readonly #held = new WriteBatch();

  write(name: string): void {
    if (!this.#held.holds(this, name)) this.release(name);
  }

  release(name: string | Uint8Array): void {
    this.sent.push(String(name));
  }
}

it("a message that is alone in its turn goes out at once, those of a crowd at the end of their turn", async () => {
  const messages = new Messages();
  for (let i = 0; i < 100; i++) {
    messages.write(`${i}`);
    expect(messages.sent).toHaveLength(i + 1);
    await turn();
  }
  messages.sent.length = 0;
  // A crowd is seen when it has been looked at.
  for (let i = 0; i < 20; i++) messages.write("first");
  await turn();
  expect(messages.sent).toHaveLength(20);
  for (const name of ["a", "b", "c"]) messages.write(name);
  await turn();
  expect(messages.sent.slice(20)).toEqual(["a", "b", "c"]);
  // The turn behind it has none.
  messages.write("last of the crowd");
  await turn();
  messages.write("alone");
  expect(messages.sent.at(-1)).toBe("alone");
});

it("many clients get their responses when the upstream closes its connections while they ask", async () => {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      const path = /^GET (\S+)/.exec(`${bytes}`)?.[1] ?? "";
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${path.length}\r\n\r\n${path}`);
    });
  });
  const gateway = await startPlain(`127.0.0.1:${await listen(server)}`);
  const clients = await Promise.all(
    Array.from({ length: 40 }, async () => {
      const socket = connect(gateway.port, "127.0.0.1");
      await once(socket, "connect");
      let received = "";
      socket.on("data", (bytes) => {
        received += bytes;
      });
      return { socket, received: () => received };
    }),
  );
  const asked: string[][] = clients.map(() => []);
  for (let round = 0; round < 10; round++) {
    for (const socket of open) socket.destroy();
    open.clear();
    for (const [i, { socket }] of clients.entries()) {
      // Two at once: the second one waits for the response to the first.
      for (const path of [`/${round}/${i}/a`, `/${round}/${i}/b`]) {
        asked[i]?.push(path);
        socket.write(`GET ${path} HTTP/1.1\r\nHost: a.test\r\n\r\n`);
      }
    }
    for (const { socket, received } of clients) {
      while ((received().match(/HTTP\/1.1 200/g)?.length ?? 0) < 2 * round + 2)
        await once(socket, "data");
    }
  }
  for (const [i, { received }] of clients.entries()) {
    expect(received().match(/(?<=\r\n\r\n)\/\d+\/\d+\/[ab]/g)).toEqual(asked[i]);
  }
});

it("many clients get all events of their streams in order, also if the upstream aborts", async () => {
  const streams = new Set<Socket>();
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", () => {
      socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
      streams.add(socket);
    });
  });
  const gateway = await startPlain(`127.0.0.1:${await listen(server)}`);
  const clients = await Promise.all(
    Array.from({ length: 40 }, async () => {
      const socket = connect(gateway.port, "127.0.0.1");
      let received = "";
      socket.on("data", (bytes) => {
        received += bytes;
      });
      await once(socket, "connect");
      socket.write("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n");
      return { received: () => received };
    }),
  );
  while (streams.size < clients.length) await turn();
  let sent = "";
  for (let event = 0; event < 200; event++) {
    // Short pieces are delayed in a crowd, and long ones are not.
    const text = event % 20 === 19 ? "x".repeat(5_000) : `event ${event}`;
    const chunk = `${text.length.toString(16)}\r\n${text}\r\n`;
    sent += chunk;
    for (const socket of streams) socket.write(chunk);
    if (event % 3 === 0) await turn();
  }
  let isWhole = false;
  for (const socket of streams) {
    if (isWhole) socket.end("4\r\nlast\r\n0\r\n\r\n");
    else socket.end("4\r\nlast\r\n");
    isWhole = !isWhole;
  }
  while (!clients.every(({ received }) => dataOf(received()).endsWith("last"))) await turn();

  const data = clients.map(({ received }) => dataOf(received()));
  const expected = `${dataOf(`\r\n\r\n${sent}`)}last`;
  expect(data.every((each) => each === expected)).toBe(true);
});

/** Returns the bytes of all chunks of a response. */
function dataOf(response: string): string {
  let data = "";
  let at = response.indexOf("\r\n\r\n") + 4;
  for (;;) {
    const lineEnd = response.indexOf("\r\n", at);
    const size = Number.parseInt(response.slice(at, lineEnd), 16);
    if (lineEnd < 0 || !(size > 0)) return data;
    data += response.slice(lineEnd + 2, lineEnd + 2 + size);
    at = lineEnd + 4 + size;
  }
}
