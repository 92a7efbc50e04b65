import { createServer, type Socket } from "node:net";
import fc from "fast-check";
import { expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { pause } from "../harness/pause.ts";
import { RawClient } from "../harness/raw-client.ts";
import { changedResponse, validResponse, type WrittenResponse } from "./random-responses.ts";
import { type ReadResponse, readResponse } from "./response-reader.ts";

const RUNS = process.env.GWC_LONG_TESTS === undefined ? 200 : 5_000;

/** An upstream that answers `/next` with bytes of the test, and `/honest/N` with N. */
async function startTarget() {
  const next: WrittenResponse[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    let count = 0;
    socket.on("data", async (chunk) => {
      count += 1;
      const mine = count;
      // A request whose connection is just closing is sent again on another one.
      if (socket.writableEnded) return;
      const [, honest] = /^GET \/honest\/(\d+) /.exec(chunk.toString("latin1")) ?? [];
      if (honest !== undefined) {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${honest.length}\r\n\r\n${honest}`);
        return;
      }
      const response = next.shift();
      for (const piece of response?.pieces ?? []) {
        socket.write(piece, "latin1");
        await new Promise((resolve) => setImmediate(resolve));
      }
      // One that is not whole has to end some time.
      if (response?.closes !== true) await pause(100);
      if (count === mine) socket.end();
    });
  });
  const host = `127.0.0.1:${await listen(server)}`;
  const gateway = await startGateway({ listeners: [{ routes: [{ backends: [{ host }] }] }] });
  return { next, port: gateway.port };
}

const ownFields =
  /^(?:connection|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade|content-length|date)$/i;

/** A response as it means to be read behind a proxy. */
function meaning({ status, headers, body, isWhole }: ReadResponse) {
  const named = headers
    .filter(([name]) => name.toLowerCase() === "connection")
    .flatMap(([, value]) => value.toLowerCase().split(","))
    .map((name) => name.trim());
  const kept = headers.filter(
    ([name]) => !ownFields.test(name) && !named.includes(name.toLowerCase()),
  );
  return { status, kept, body, isWhole };
}

/** Reads a client's response without any leniency. */
async function ask(port: number, { method }: WrittenResponse) {
  const client = new RawClient(port);
  client.send(`${method} /next HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
  await eventually(() => client.isClosed || null, "the end of the response");
  return readResponse(client.received, { method, isClosed: false, isTolerant: false });
}

/** The next response on the same connections is the next request's. */
async function expectHonest(port: number, number: number): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/honest/${number}`);
  expect(await response.text()).toBe(String(number));
}

it("responses reach the client as the upstream meant them", async () => {
  const { next, port } = await startTarget();
  let number = 0;
  await fc.assert(
    fc.asyncProperty(validResponse, async (response) => {
      next.push(response);
      const wanted = readResponse(response.pieces.join(""), {
        method: response.method,
        isClosed: response.closes,
        isTolerant: true,
      });
      const found = await ask(port, response);
      expect(found && meaning(found)).toEqual(wanted && meaning(wanted));
      expect(found?.isWhole).toBe(true);
      number += 1;
      await expectHonest(port, number);
    }),
    { seed: 5, numRuns: RUNS },
  );
}, 600_000);

it("a small change is read as an independent parser reads it, or is a 502, or is aborted", async () => {
  const { next, port } = await startTarget();
  let number = 0;
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(changedResponse, async (response) => {
      next.push(response);
      const wanted = readResponse(response.pieces.join(""), {
        method: response.method,
        isClosed: true,
        isTolerant: true,
      });
      const found = await ask(port, response);
      if (found?.status === 502 && /^upstream /.test(found.body)) refused += 1;
      else if (found?.isWhole === true) expect(meaning(found)).toEqual(wanted && meaning(wanted));
      number += 1;
      await expectHonest(port, number);
    }),
    { seed: 5, numRuns: RUNS },
  );
  expect(refused).toBeGreaterThan(RUNS / 20);
  expect(refused).toBeLessThan(RUNS);
}, 600_000);
