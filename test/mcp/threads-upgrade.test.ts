import { createServer } from "node:http";
import type { Socket } from "node:net";
import { beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { breakDown, fragileThreads } from "../harness/fragile-threads.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { bytesHeld, bytesTaken } from "../harness/kernel-queues.ts";
import { listen } from "../harness/listen.ts";
import { settled } from "../harness/settled.ts";
import { writeEndlessly } from "../harness/write-endlessly.ts";
import { post, toolCall } from "./raw-client.ts";
import {
  child,
  connectionTo,
  requestText,
  sessionOf,
  statuses,
  threads,
} from "./thread-gateway.ts";

const indexes = ["0", "1", "2"];

describe("a request with a session and an upgrade", () => {
  const sockets: Socket[] = [];
  let gateway: Gateway;

  beforeAll(async () => {
    const server = createServer();
    server.on("upgrade", ({ url }, socket: Socket) => {
      sockets.push(socket);
      socket.on("error", () => {});
      socket.write("HTTP/1.1 101 OK\r\nConnection: Upgrade\r\nUpgrade: own/1\r\n\r\n");
      if (url === "/echo") socket.on("data", (bytes) => socket.write(bytes));
      socket.on("end", () => socket.end());
    });
    const host = `127.0.0.1:${await listen(server)}`;
    const routes = [
      { matches: [{ path: { exact: "/mcp" } }], backends: [{ mcp: { targets: [child] } }] },
      { backends: [{ host }] },
    ];
    gateway = await startGateway({ listeners: [{ routes }], ...fragileThreads(threads) });
    gateway.path = "/mcp";
    await gateway.seen(/3 threads serve/);
  });

  const asking = { connection: "Upgrade", upgrade: "own/1" };
  /** Opens a connection of this thread that has been upgraded; its session id was not issued by the gateway. */
  const changed = async (path: string, thread: string) => {
    const client = await connectionTo(gateway.url, thread);
    const session = { "mcp-session-id": "whose.1", ...asking };
    client.send(requestText(path, session, "", { method: "GET" }));
    await client.receives(/^HTTP\/1.1 101 [\s\S]*\r\n\r\n/);
    expect(client.received).toMatch(/^upgrade: own\/1\r$/im);
    client.received = "";
    return client;
  };

  it("gets a response in MCP's protocol, on whichever thread", async () => {
    const session = await sessionOf(gateway.url, "1");
    for (const thread of indexes) {
      const client = await connectionTo(gateway.url, thread);
      client.send(requestText("/mcp", { ...session, ...asking }, "", { method: "GET" }));
      await client.receives(/^HTTP\/1.1 200 /);
      await post(gateway.url, toolCall("log"), session);
      client.socket.destroy();
    }
    const last = await connectionTo(gateway.url, "2");
    last.send(requestText("/mcp", { ...session, ...asking }, "", { method: "DELETE" }));
    await last.receives(/^HTTP\/1.1 204 /);
    expect(await statuses(gateway.url, session)).toEqual(new Set([404]));
  });

  it("is upgraded where a server supports it, on whichever thread", async () => {
    for (const thread of indexes) {
      const from = gateway.output.length;
      const client = await changed("/echo", thread);
      const { localPort } = client.socket;
      const text = "x".repeat(3_000_000);
      client.send(text);
      await eventually(() => client.received.length === text.length || null, "the echo");
      client.send("last");
      client.socket.end();
      await client.closes();
      expect(client.received).toBe(`${text}last`);
      const line = new RegExp(`src.addr=127.0.0.1:${localPort} .*http.path=/echo .*status=101 dur`);
      await gateway.seen(line, from);
    }
  });

  it("ends on both sides when one of them disconnects", async () => {
    for (const thread of indexes) {
      const client = await changed("/echo", thread);
      client.socket.destroy();
      await eventually(() => sockets.at(-1)?.destroyed || null, "the end upstream");
      const other = await changed("/echo", thread);
      sockets.at(-1)?.destroy();
      await other.closes();
    }
  });

  it.each(indexes)(
    "pauses one side while the other one is slow, over thread %s",
    async (thread) => {
      const client = await changed("/mute", thread);
      writeEndlessly(client.socket, "x".repeat(65_536));
      await settled(() => bytesTaken(client.socket));
      expect(bytesHeld(client.socket, sockets.at(-1))).toBeLessThan(1_048_576);
      client.socket.destroy();
      const reader = await changed("/mute", thread);
      reader.socket.pause();
      const writer = sockets.at(-1);
      if (writer !== undefined) writeEndlessly(writer, "x".repeat(65_536));
      await settled(() => bytesTaken(writer));
      expect(bytesHeld(writer, reader.socket)).toBeLessThan(1_048_576);
    },
  );

  it("is aborted with its thread, which is logged", async () => {
    const client = await changed("/echo", "0");
    const { localPort } = client.socket;
    const from = gateway.output.length;
    breakDown(gateway, 1);
    await client.closes();
    await gateway.seen(
      new RegExp(`src.addr=127.0.0.1:${localPort} .*http.status=101 reason=Internal`),
      from,
    );
  });
});
