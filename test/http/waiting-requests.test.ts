import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { expect, it } from "vitest";
import {
  type Http1Connection,
  Http1Pool,
  type Http1User,
  type Waiter,
} from "../../runtime/http/upstream/node/http1-connection.ts";
import type { Connect } from "../../runtime/net/connector.ts";
import { atEnd } from "../harness/at-end.ts";

/** A request that asks for more of its response whenever it has taken a piece of it. */
class Eager implements Waiter, Http1User {
  readonly seen: string[] = [];
  readonly isOver: Promise<void>;
  #end: () => void = () => {};
  #connection: Http1Connection | undefined;

  constructor() {
    this.isOver = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  use(connection: Http1Connection): void {
    this.#connection = connection;
    connection.begin(this, false);
    connection.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n", null);
  }

  onResponse(): void {
    this.seen.push("head");
  }

  onData(chunk: Buffer): boolean {
    this.seen.push(chunk.toString());
    this.#connection?.resume();
    return true;
  }

  onComplete(): void {
    this.seen.push("end");
    this.#end();
  }

  onClose(): void {
    this.seen.push("closed");
    this.#end();
  }

  onNoConnection(): void {}
  onInformation(): void {}
  onDrain(): void {}
}

it("a request that waits for a connection has all of its own response, and nothing of the one before", async () => {
  const server = createServer((socket) => {
    socket.on("data", () => {
      // All of it in one piece.
      socket.write(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n",
      );
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  atEnd(() => server.close());
  const { port } = server.address() as AddressInfo;
  let opened = 0;
  // The second connection never comes to be.
  const open: Connect = (done) => {
    opened += 1;
    if (opened > 1) return;
    const socket = connect({ port, host: "127.0.0.1" }, () => done(null, socket));
    atEnd(() => socket.destroy());
  };
  const pool = new Http1Pool(open);
  const requests = [new Eager(), new Eager(), new Eager()];
  for (const request of requests) pool.take(request);
  await Promise.all(requests.map(({ isOver }) => isOver));
  for (const { seen } of requests) expect(seen).toEqual(["head", "abc", "end"]);
});
