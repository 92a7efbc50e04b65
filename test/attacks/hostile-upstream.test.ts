import type { Socket } from "node:net";
import { expect, test } from "vitest";
import { startCompiled } from "../connections/compiled.ts";
import { RawClient, startRawUpstream } from "../http/harness.ts";
import {
  brokenAnswers,
  type HostileAnswer,
  noAnswers,
  poisonedAnswers,
} from "./support/hostile-answers.ts";

/** A gateway before an upstream that answers `/bad/N` with the Nth of these, and `/good/N` as it should. */
async function startTarget(answers: readonly HostileAnswer[]) {
  const upstream = await startRawUpstream((socket) => {
    socket.on("data", (chunk) => {
      const [, kind, number = ""] = / \/(bad|good)\/(\d+) /.exec(chunk.toString("latin1")) ?? [];
      const body = `the answer ${number}`;
      if (kind === "good") {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
      } else if (kind === "bad") misbehave(socket, answers[Number(number)]);
    });
  });
  return startCompiled({ listeners: [{ routes: [{ backends: [{ host: upstream }] }] }] });
}

function misbehave(socket: Socket, answer: HostileAnswer | undefined): void {
  const { bytes = "", isEndless = false, closes = false } = answer ?? {};
  socket.write(bytes, "latin1");
  if (closes) socket.end();
  if (!isEndless) return;
  const more = () => {
    while (!socket.destroyed && socket.write(bytes.repeat(100), "latin1"));
  };
  socket.on("drain", more);
  more();
}

/** Asks for each in turn, and for an honest answer behind each; what a client got of the first. */
async function attack(answers: readonly HostileAnswer[]) {
  const gateway = await startTarget(answers);
  const memory = gateway.memory();
  const found: (readonly [name: string, received: string])[] = [];
  for (const [number, { name, method = "GET" }] of answers.entries()) {
    const client = new RawClient(gateway.port);
    client.send(`${method} /bad/${number} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    await client.closes().catch(() => {});
    found.push([name, client.isClosed ? client.received : "a client that waits"]);
    const next = await fetch(`http://127.0.0.1:${gateway.port}/good/${number}`);
    expect(await next.text(), `behind ${name}`).toBe(`the answer ${number}`);
  }
  expect(gateway.memory() - memory).toBeLessThan(150);
  return found;
}

const firstLine = (text: string) => text.slice(0, text.indexOf("\r\n"));

test("an upstream that gives no valid answer is a 502 without a word of it, and the next answer is right", async () => {
  const found = await attack(noAnswers);
  const wrong = found.filter(
    ([, received]) => !/^HTTP\/1\.1 502 .*\r\n\r\nupstream [a-z ]+$/s.test(received),
  );
  expect(wrong.map(([name, received]) => `${name}: ${received.slice(0, 300)}`)).toEqual([]);
}, 120_000);

test("an upstream that breaks off inside its answer breaks off the client's, and the next answer is right", async () => {
  const found = await attack(brokenAnswers);
  for (const [name, received] of found) {
    if (firstLine(received) === "HTTP/1.1 502 Bad Gateway") continue;
    expect(firstLine(received), name).toBe("HTTP/1.1 200 OK");
    expect(received, name).not.toMatch(/\r\n0\r\n\r\n$/);
    expect(received, name).not.toMatch(/whole/);
  }
});

test("what an upstream says beyond its answer is nobody's answer", async () => {
  for (const [name, received] of await attack(poisonedAnswers)) {
    expect(firstLine(received), name).toMatch(/^HTTP\/1\.1 (?:200|204|304) /);
    expect(received, name).not.toMatch(/poison/);
  }
});

test("what an upstream answers to an upgrade is believed as little", async () => {
  // A flood of interim answers, garbage, and two lengths.
  const hostile = noAnswers.filter(({ name }) =>
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
