import { createServer } from "node:http";
import type { Socket } from "node:net";
import { expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { startGateway } from "../harness/gateway.ts";
import { bytesHeld, bytesTaken } from "../harness/kernel-queues.ts";
import { listen } from "../harness/listen.ts";
import { pause } from "../harness/pause.ts";
import { RawClient } from "../harness/raw-client.ts";
import { settled } from "../harness/settled.ts";
import { writeEndlessly } from "../harness/write-endlessly.ts";

/** An origin that delays responses to `/wait...` until the test releases them, and answers everything else at once. */
async function startTarget() {
  const reached: string[] = [];
  const waiting: (() => void)[] = [];
  const origin = createServer((request, response) => {
    const name = `${request.method} ${request.url}`;
    reached.push(name);
    const finish = () => response.end(name);
    request.resume();
    request.on("end", () => {
      if (request.url?.startsWith("/wait")) waiting.push(finish);
      else finish();
    });
  });
  const host = `127.0.0.1:${await listen(origin)}`;
  const gateway = await startGateway({ listeners: [{ routes: [{ backends: [{ host }] }] }] });
  const go = async () => {
    const next = await eventually(() => waiting.shift() ?? null, "a waiting request");
    next();
  };
  return { gateway, reached, go, client: new RawClient(gateway.port) };
}

const get = (path: string, fields = "") => `GET ${path} HTTP/1.1\r\nHost: a\r\n${fields}\r\n`;

/** The statuses and bodies on a connection, in their order. */
const responses = ({ received }: RawClient) =>
  [...received.matchAll(/HTTP\/1\.1 (\d+)|((?:GET|POST) \/\S*?)(?=HTTP|$)/g)].map(
    ([, status, body]) => status ?? body,
  );

it("a request behind another one goes upstream when that is answered", async () => {
  const { client, reached, go } = await startTarget();
  const post = "POST /wait/1 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab";
  client.send(`${post}${get("/2")}${get("/wait/3")}${get("/4", "Connection: close\r\n")}`);
  await eventually(() => reached.length > 0 || null, "the first request");
  await pause(100);
  expect(reached).toEqual(["POST /wait/1"]);
  await go();
  await go();
  await client.closes();
  expect(reached).toEqual(["POST /wait/1", "GET /2", "GET /wait/3", "GET /4"]);
  expect(responses(client).filter((each) => each !== "200")).toEqual(reached);
});

it("a large body behind another request is read whole when that is answered", async () => {
  const { client, reached, go } = await startTarget();
  const body = "x".repeat(300_000);
  const post = `POST /2 HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  client.send(`${get("/wait/1")}${post}${get("/3", "Connection: close\r\n")}`);
  await go();
  await client.closes();
  expect(reached).toEqual(["GET /wait/1", "POST /2", "GET /3"]);
});

it("garbage behind a request is refused after that request's own response", async () => {
  const { client, reached, go } = await startTarget();
  client.send(`${get("/wait/1")}${get("/2")}${get("/3", "X : y\r\n")}${get("/4")}`);
  await eventually(() => reached.length > 0 || null, "the first request");
  await pause(50);
  expect(client.received).toBe("");
  client.send("\0more garbage");
  await go();
  await client.closes();
  expect(responses(client)).toEqual(["200", "GET /wait/1", "200", "GET /2", "400"]);
  expect(reached).toEqual(["GET /wait/1", "GET /2"]);
});

it("a mistake in the body of a request that waits is its response, and it never goes upstream", async () => {
  const { client, reached, go } = await startTarget();
  const post = "POST /2 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n";
  client.send(`${get("/wait/1")}${post}5x\r\n`);
  await go();
  await client.closes();
  expect(responses(client)).toEqual(["200", "GET /wait/1", "400"]);
  expect(reached).toEqual(["GET /wait/1"]);
});

it("nothing behind the last request of a connection is served", async () => {
  const { client, reached, go } = await startTarget();
  client.send(`${get("/wait/1", "Connection: close\r\n")}${get("/2")}`);
  await go();
  await client.closes();
  expect(reached).toEqual(["GET /wait/1"]);
});

it("an upgrade or CONNECT behind a request never takes that request's response", async () => {
  const { client, go, gateway } = await startTarget();
  client.send(get("/wait/1") + get("/2", "Connection: Upgrade\r\nUpgrade: websocket\r\n"));
  await go();
  await eventually(() => client.received.endsWith("GET /2") || null, "both responses");
  expect(responses(client)).toEqual(["200", "GET /wait/1", "200", "GET /2"]);
  const tunnel = new RawClient(gateway.port);
  tunnel.send(`${get("/wait/3")}CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n`);
  await go();
  await tunnel.closes();
  expect(responses(tunnel)).toEqual(["200", "GET /wait/3", "400"]);
  expect((await fetch(`http://127.0.0.1:${gateway.port}/`)).status).toBe(200);
});

it("a client that never waits is read as far as it is answered", async () => {
  const { client, gateway, reached, go } = await startTarget();
  client.send(get("/wait"));
  await eventually(() => reached.length > 0 || null, "the first request");
  const requests = get("/flood").repeat(1000);
  let sent = 0;
  const more = () => {
    while (sent < 400_000) {
      sent += 1000;
      if (!client.socket.write(requests)) break;
    }
  };
  client.socket.on("drain", more);
  more();
  await pause(1000);
  expect(sent).toBeLessThan(400_000);
  // One piece of what node reads at once is 64 KiB: behind the one that fills the queue, none is read.
  expect(bytesTaken(client.socket)).toBeLessThan(4 * 65_536);
  expect(reached).toHaveLength(1);
  const other = await fetch(`http://127.0.0.1:${gateway.port}/other`);
  expect(await other.text()).toBe("GET /other");
  await go();
  await eventually(() => reached.length > 200 || null, "the requests that waited");
  const taken = bytesTaken(client.socket);
  expect(taken).toBeLessThan(4 * 65_536 + reached.length * get("/flood").length);
  client.socket.destroy();
});

it("a response that its client does not read is taken from the upstream as far as buffers go", async () => {
  const written: Socket[] = [];
  const origin = createServer((_, response) => {
    if (response.socket !== null) written.push(response.socket);
    writeEndlessly(response, Buffer.alloc(65_536));
  });
  const host = `127.0.0.1:${await listen(origin)}`;
  const gateway = await startGateway({ listeners: [{ routes: [{ backends: [{ host }] }] }] });
  const client = new RawClient(gateway.port);
  client.socket.pause();
  // The second response never starts: its request waits for the end of the first.
  client.send(get("/endless") + get("/endless"));
  await eventually(() => written.length > 0 || null, "the request");
  await settled(() => bytesTaken(written[0]));
  expect(bytesHeld(written[0], client.socket)).toBeLessThan(1_048_576);
  expect(written).toHaveLength(1);
  client.socket.destroy();
});
