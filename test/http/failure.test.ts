import type { Socket } from "node:net";
import { beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { freePort } from "../harness/free-port.ts";
import type { Gateway } from "../harness/gateway.ts";
import { bytesHeld } from "../harness/kernel-queues.ts";
import { pause } from "../harness/pause.ts";
import { RawClient } from "../harness/raw-client.ts";
import { startRawUpstream } from "../harness/raw-upstream.ts";
import { roundTripsUntil } from "../harness/round-trips.ts";
import { settled } from "../harness/settled.ts";
import { startUpstream } from "../harness/upstream.ts";
import { startHandwritten } from "./handwritten-gateway.ts";
import { startPlain } from "./plain-gateway.ts";

const get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

/** A gateway before an upstream that answers each request with the bytes that were set last; "" closes the connection. */
async function startBytes() {
  let bytes = "";
  const upstream = await startRawUpstream((socket) => {
    socket.on("data", () => {
      if (bytes === "") socket.destroy();
      else socket.write(bytes, "latin1");
    });
  });
  const { url } = await startPlain(upstream);
  return {
    url,
    answer: (next: string) => {
      bytes = next;
    },
  };
}

describe("an upstream", () => {
  let raw: Awaited<ReturnType<typeof startBytes>>;

  beforeAll(async () => {
    raw = await startBytes();
  });

  it("that is down gives 503 and no internals, and the gateway serves on", async () => {
    const { gateway, url } = await startPlain(`http://127.0.0.1:${await freePort()}`);
    for (let i = 0; i < 2; i++) {
      const response = await fetch(url);
      expect(response.status).toBe(503);
      expect(await response.text()).toBe("upstream is not reachable");
    }
    await gateway.seen(/http\.status=503 error="connect ECONNREFUSED.*reason=UpstreamFailure/);
  });

  it("whose name has no address gives 503", async () => {
    const { url } = await startPlain("http://no-such-host.invalid:80");
    expect((await fetch(url)).status).toBe(503);
  });

  it.each([
    ["closes without a response", ""],
    ["responses garbage", "SSH-2.0-OpenSSH_9.2\r\n"],
    [
      "responses two lengths",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    ],
    [
      "answers with a length and chunks",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ["switches protocols unasked", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"],
    ["responses a header of 100 KB", `HTTP/1.1 200 OK\r\nX: ${"x".repeat(100_000)}\r\n\r\n`],
  ])("that %s gives 502", async (_name, bytes) => {
    raw.answer(bytes);
    const response = await fetch(raw.url);
    expect(response.status).toBe(502);
    expect(response.headers.get("x")).toBeNull();
  });

  it.each([
    ["a body of known length", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"],
    ["a chunked body", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"],
  ])("that dies inside %s breaks the client's connection", async (_name, bytes) => {
    const upstream = await startRawUpstream((socket) => {
      socket.on("data", () => {
        socket.write(bytes);
        setTimeout(() => socket.destroy(), 50);
      });
    });
    const { gateway, port } = await startPlain(upstream);
    const client = new RawClient(port);
    client.send(get);
    await client.closes();
    expect(client.received).toMatch(/half/);
    expect(client.received).not.toMatch(/\r\n0\r\n\r\n$/);
    await gateway.seen(/http\.status=200 .*reason=UpstreamFailure/);
  });

  it("that dies while a 1.0 client reads resets the connection: the end would look complete", async () => {
    const sockets: Socket[] = [];
    const upstream = await startRawUpstream((socket) => {
      sockets.push(socket);
      socket.on("data", () =>
        socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"),
      );
    });
    const { port } = await startPlain(upstream);
    const client = new RawClient(port);
    let error: NodeJS.ErrnoException | undefined;
    client.socket.on("error", (raised) => {
      error = raised;
    });
    client.send("GET / HTTP/1.0\r\n\r\n");
    await client.receives(/half/);
    for (const socket of sockets) socket.destroy();
    await client.closes();
    expect(error?.code).toBe("ECONNRESET");
  });

  it("that answers before it has the whole body is believed", async () => {
    const upstream = await startRawUpstream((socket) => {
      socket.once("data", () =>
        socket.end("HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno"),
      );
    });
    const { port } = await startPlain(upstream);
    const client = new RawClient(port);
    client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nthe start");
    await client.receives(/^HTTP\/1\.1 401 /);
  });

  it("whose kept connection was closed is reached over a new one", async () => {
    let connections = 0;
    const upstream = await startRawUpstream((socket) => {
      connections += 1;
      socket.on("data", () => {
        socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        setTimeout(() => socket.destroy(), 20);
      });
    });
    const { url } = await startPlain(upstream);
    for (let i = 0; i < 3; i++) {
      expect(await (await fetch(url)).text()).toBe("ok");
      await pause(100);
    }
    expect(connections).toBe(3);
  });

  it("whose idle connections were closed while the gateway was stopped is reached over new ones", async () => {
    const open = new Set<Socket>();
    const upstream = await startRawUpstream((socket) => {
      open.add(socket);
      socket.on("data", () => {
        setTimeout(() => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), 50);
      });
    });
    const { gateway, port } = await startPlain(upstream);
    const clients = Array.from({ length: 20 }, () => new RawClient(port));
    const sendAll = () => {
      for (const client of clients)
        client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nonce");
    };
    sendAll();
    for (const client of clients) await client.receives(/200 OK.*ok$/s);
    gateway.signal("SIGSTOP");
    // Requests come before the ends of the connections.
    sendAll();
    await pause(600);
    for (const socket of open) socket.destroy();
    await pause(100);
    gateway.signal("SIGCONT");
    for (const client of clients) await client.receives(/ok.*HTTP.1.1 [0-9]{3}/s);
    const statuses = clients.map(({ received }) => received.match(/HTTP\/1.1 [0-9]{3}/g)?.at(-1));
    expect(new Set(statuses)).toEqual(new Set(["HTTP/1.1 200"]));
  });

  it("that closes a kept connection under a request gets a safe one again, and no other", async () => {
    const seen: string[] = [];
    const upstream = await startRawUpstream((socket) => {
      let count = 0;
      socket.on("data", (chunk) => {
        count += 1;
        const [method = ""] = chunk.toString("latin1").split(" ");
        seen.push(method);
        if (count === 1 && method === "GET")
          socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        else socket.destroy();
      });
    });
    const { url } = await startPlain(upstream);
    expect((await fetch(url)).status).toBe(200);
    expect((await fetch(url)).status).toBe(200);
    expect((await fetch(url, { method: "POST", body: "once" })).status).toBe(502);
    expect(seen).toEqual(["GET", "GET", "GET", "POST"]);
  });

  it("that says more than it was asked is not believed by the next request", async () => {
    let closed = 0;
    const upstream = await startRawUpstream((socket) => {
      let count = 0;
      socket.on("data", () => {
        count += 1;
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nreal${count}`);
        setTimeout(() => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"), 30);
      });
      socket.on("close", () => {
        closed += 1;
      });
    });
    const { url } = await startPlain(upstream);
    for (let i = 0; i < 3; i++) {
      expect(await (await fetch(url)).text()).toMatch(/^real/);
      await eventually(() => closed > i || null, "the end of the connection");
    }
  });
});

describe("a client that leaves", () => {
  it("aborts its upstream call at once, while waiting and while reading", async () => {
    let calls = 0;
    let aborted = 0;
    const upstream = await startUpstream((request, response) => {
      if (request.url === "/other") return void response.end("ok");
      calls += 1;
      response.on("close", () => {
        aborted += 1;
      });
      if (request.url === "/stream") response.write("data: 1\n\n");
    });
    const { gateway, port, url } = await startPlain(upstream);
    for (const path of ["/wait", "/stream", "/wait", "/stream", "/wait", "/stream"]) {
      const client = new RawClient(port);
      const before = calls;
      client.send(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
      await eventually(() => calls > before || null, "the call upstream");
      if (path === "/stream") await client.receives(/data: 1/);
      client.socket.destroy();
      const others = await roundTripsUntil(
        () => aborted === calls,
        () => fetch(`${url}/other`),
      );
      expect(others).toBeLessThan(20);
    }
    await gateway.seen(/http\.path=\/wait http\.version=HTTP\/1\.1 reason=ClientClosed/);
  });

  it("in the middle of its body aborts the upstream call", async () => {
    let aborted = false;
    let received = 0;
    const upstream = await startUpstream((request) => {
      request.on("data", (chunk) => {
        received += chunk.length;
      });
      request.on("error", () => {
        aborted = true;
      });
    });
    const { port } = await startPlain(upstream);
    const client = new RawClient(port);
    client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nthe start");
    await eventually(() => received > 0 || null, "the start of the body");
    client.socket.destroy();
    await eventually(() => aborted || null, "the abort upstream");
  });
});

describe("a slow reader", () => {
  it("pauses its upstream: the gateway holds little of a large response", async () => {
    const piece = Buffer.alloc(65_536, "x");
    const total = 200 * 1024 * 1024;
    let written = 0;
    const writers: Socket[] = [];
    const upstream = await startUpstream((_request, response) => {
      if (response.socket !== null) writers.push(response.socket);
      response.writeHead(200, { "content-length": String(total) });
      const fill = () => {
        while (written < total) {
          written += piece.length;
          if (!response.write(piece)) {
            response.once("drain", fill);
            return;
          }
        }
        response.end();
      };
      fill();
    });
    const { port } = await startPlain(upstream);
    const client = new RawClient(port);
    client.socket.pause();
    client.send(get);
    const stopped = await settled(() => written);
    expect(stopped).toBeLessThan(40 * 1024 * 1024);
    expect(bytesHeld(writers[0], client.socket)).toBeLessThan(1024 * 1024);
    // It continues when the client reads again.
    let read = 0;
    client.socket.removeAllListeners("data");
    client.socket.on("data", (chunk) => {
      read += chunk.length;
    });
    client.socket.resume();
    await eventually(() => read >= total || null, "the whole response");
  });

  it("upstream pauses the client: the gateway holds little of a large body", async () => {
    let paused: (() => void) | undefined;
    let received = 0;
    const readers: Socket[] = [];
    const upstream = await startUpstream((request, response) => {
      readers.push(request.socket);
      paused = () => request.on("data", (chunk) => (received += chunk.length));
      request.on("end", () => response.end("done"));
    });
    const { port } = await startPlain(upstream);
    const client = new RawClient(port);
    const total = 100 * 1024 * 1024;
    client.send(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${total}\r\n\r\n`);
    const piece = Buffer.alloc(65_536, "x");
    let sent = 0;
    const fill = () => {
      while (sent < total) {
        sent += piece.length;
        if (!client.socket.write(piece)) {
          client.socket.once("drain", fill);
          return;
        }
      }
    };
    fill();
    const stopped = await settled(() => sent);
    expect(stopped).toBeLessThan(40 * 1024 * 1024);
    expect(bytesHeld(client.socket, readers[0])).toBeLessThan(1024 * 1024);
    paused?.();
    await client.receives(/done/);
    expect(received).toBe(total);
  });
});

describe("a handler that throws", () => {
  let gateway: Gateway;
  let port: number;
  let url: string;

  beforeAll(async () => {
    ({ gateway, port, url } = await startHandwritten("http://127.0.0.1:1"));
  });

  it("is a 500 without internals, with a stack on stderr, and the process lives on", async () => {
    const response = await fetch(`${url}/throws`);
    expect(response.status).toBe(500);
    expect(await response.text()).toBe("internal error");
    await eventually(() => /a bug in a handler\n\s+at /.exec(gateway.stderr), "the stack");
    expect(gateway.stdout).not.toMatch(/a bug/);
    expect((await fetch(`${url}/missing`)).status).toBe(404);
  });

  it("shows nothing of the message that could not be read", async () => {
    expect((await fetch(`${url}/throws-on-rubbish`)).status).toBe(500);
    await eventually(() => /SyntaxError: invalid JSON\n\s+at /.exec(gateway.stderr), "the stack");
    expect(gateway.stderr).not.toContain("sk-");
  });

  it("outside of any request shows on stderr, and the process lives on", async () => {
    await fetch(`${url}/throws-timer`);
    await eventually(
      () => /^bug: Error: a bug in a timer\n\s+at /m.exec(gateway.stderr),
      "the stack",
    );
    expect((await fetch(`${url}/missing`)).status).toBe(404);
  });

  it("after the head breaks the connection off", async () => {
    const client = new RawClient(port);
    client.send("GET /throws-later HTTP/1.1\r\nHost: x\r\n\r\n");
    await client.closes();
    expect(client.received).toMatch(/the first half\r\n$/);
    await eventually(() => /a bug in the middle/.exec(gateway.stderr), "the stack");
  });
});
