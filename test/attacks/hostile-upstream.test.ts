import type { Socket } from "node:net";
import { expect, it } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import { heldMegabytes } from "../harness/held-memory.ts";
import { RawClient } from "../harness/raw-client.ts";
import { startRawUpstream } from "../harness/raw-upstream.ts";
import { writeEndlessly } from "../harness/write-endlessly.ts";
import {
  brokenResponses,
  type HostileResponse,
  noResponses,
  poisonedResponses,
} from "./hostile-responses.ts";

/** A gateway before an upstream that answers `/bad/N` with the Nth of these, and `/good/N` as it should. */
async function startTarget(responses: readonly HostileResponse[]) {
  const upstream = await startRawUpstream((socket) => {
    socket.on("data", (chunk) => {
      const [, kind, number = ""] = / \/(bad|good)\/(\d+) /.exec(chunk.toString("latin1")) ?? [];
      const body = `the response ${number}`;
      if (kind === "good") {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
      } else if (kind === "bad") misbehave(socket, responses[Number(number)]);
    });
  });
  return startGateway({ listeners: [{ routes: [{ backends: [{ host: upstream }] }] }] });
}

function misbehave(socket: Socket, response: HostileResponse | undefined): void {
  const { bytes = "", isEndless = false, closes = false } = response ?? {};
  socket.write(bytes, "latin1");
  if (closes) socket.end();
  if (isEndless) writeEndlessly(socket, Buffer.from(bytes.repeat(100), "latin1"));
}

/** Asks for each in turn, and for an honest response behind each; what a client got of the first. */
async function attack(responses: readonly HostileResponse[]) {
  const gateway = await startTarget(responses);
  const before = await heldMegabytes(gateway);
  const found: (readonly [name: string, received: string])[] = [];
  for (const [number, { name, method = "GET" }] of responses.entries()) {
    const client = new RawClient(gateway.port);
    client.send(`${method} /bad/${number} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    await client.closes().catch(() => {});
    found.push([name, client.isClosed ? client.received : "a client that waits"]);
    const next = await fetch(`http://127.0.0.1:${gateway.port}/good/${number}`);
    expect(await next.text(), `behind ${name}`).toBe(`the response ${number}`);
  }
  expect((await heldMegabytes(gateway)) - before).toBeLessThan(10);
  return found;
}

const firstLine = (text: string) => text.slice(0, text.indexOf("\r\n"));

it("an upstream that gives no valid response is a 502 without a word of it, and the next response is right", async () => {
  const found = await attack(noResponses);
  const wrong = found.filter(
    ([, received]) => !/^HTTP\/1\.1 502 .*\r\n\r\nupstream [a-z ]+$/s.test(received),
  );
  expect(wrong.map(([name, received]) => `${name}: ${received.slice(0, 300)}`)).toEqual([]);
}, 120_000);

it("an upstream that aborts its response aborts the client's, and the next response is right", async () => {
  const found = await attack(brokenResponses);
  for (const [name, received] of found) {
    if (firstLine(received) === "HTTP/1.1 502 Bad Gateway") continue;
    expect(firstLine(received), name).toBe("HTTP/1.1 200 OK");
    expect(received, name).not.toMatch(/\r\n0\r\n\r\n$/);
    expect(received, name).not.toMatch(/whole/);
  }
});

it("bytes after an upstream's response never reach another request", async () => {
  for (const [name, received] of await attack(poisonedResponses)) {
    expect(firstLine(received), name).toMatch(/^HTTP\/1\.1 (?:200|204|304) /);
    expect(received, name).not.toMatch(/poison/);
  }
});

it("what an upstream answers to an upgrade is believed as little", async () => {
  // A flood of interim responses, garbage, and two lengths.
  const hostile = noResponses.filter(({ name }) =>
    /interim|garbage|two lengths|field|999/.test(name),
  );
  const { port } = await startTarget(hostile);
  for (const [number, { name }] of hostile.entries()) {
    const client = new RawClient(port);
    const fields = "Host: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n";
    client.send(`GET /bad/${number} HTTP/1.1\r\n${fields}\r\n`);
    await client.closes();
    expect(firstLine(client.received), name).toBe("HTTP/1.1 502 Bad Gateway");
  }
});
