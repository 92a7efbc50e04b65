import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { bytesUnread } from "../harness/kernel-queues.ts";
import { pause } from "../harness/pause.ts";
import { RawClient } from "../harness/raw-client.ts";
import { startRawUpstream } from "../harness/raw-upstream.ts";
import { startUpstream } from "../harness/upstream.ts";
import { startHandwritten } from "./handwritten-gateway.ts";
import { startPlain } from "./plain-gateway.ts";

/** Answers with what it was asked, as JSON. */
function echo(request: IncomingMessage, done: (seen: Seen) => void): void {
  const chunks: Buffer[] = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const { method, url, rawHeaders } = request;
    done({ method, url, rawHeaders, bytes: Buffer.concat(chunks).length });
  });
}

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly rawHeaders: readonly string[];
  readonly bytes: number;
}

async function ask(url: string, init?: RequestInit): Promise<Seen> {
  // The echo upstream answers in this shape.
  return (await (await fetch(url, init)).json()) as Seen;
}

function startEcho(): Promise<string> {
  return startUpstream((request, response) => {
    echo(request, (seen) => {
      response.setHeader("x-response", "upstream");
      response.end(JSON.stringify(seen));
    });
  });
}

function names(seen: Seen): string[] {
  return seen.rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase());
}

function value(seen: Seen, name: string): string | undefined {
  const at = names(seen).indexOf(name);
  return at === -1 ? undefined : seen.rawHeaders[2 * at + 1];
}

describe("a forwarded request", () => {
  it("keeps method, target bytes, header case and body", async () => {
    const { port } = await startPlain(await startEcho());
    const client = new RawClient(port);
    client.send(
      "PATCH /a%20b/c?d=%2F&e HTTP/1.1\r\nHost: x\r\nX-CamelCase: v\xe9\r\nContent-Length: 3\r\n\r\nabc",
    );
    await client.receives(/"bytes":3/);
    const seen: Seen = JSON.parse(client.received.slice(client.received.indexOf("{")));
    expect(seen.method).toBe("PATCH");
    expect(seen.url).toBe("/a%20b/c?d=%2F&e");
    expect(seen.rawHeaders).toContain("X-CamelCase");
  });

  it("names the upstream in Host, or keeps the client's if the route does", async () => {
    const upstream = await startEcho();
    const { url } = await startHandwritten(upstream);
    const auto = await ask(`${url}/own-host`);
    expect(value(auto, "host")).toBe(new URL(upstream).host);
    const kept = await ask(`${url}/keep-host`);
    expect(value(kept, "host")).toBe(new URL(url).host);
  });

  it("loses every hop-by-hop header, and those that Connection names", async () => {
    const { port } = await startHandwritten(await startEcho());
    const client = new RawClient(port);
    client.send(
      "GET /keep-host HTTP/1.1\r\nHost: x\r\nConnection: close, X-Drop, x-user\r\nX-Drop: 1\r\nX-User: forged\r\n" +
        "Keep-Alive: timeout=5\r\nTE: trailers\r\nProxy-Connection: keep-alive\r\nUpgrade: websocket\r\nX-Keep: 1\r\n\r\n",
    );
    await client.closes();
    const seen: Seen = JSON.parse(client.received.slice(client.received.indexOf("{")));
    const left = names(seen);
    for (const gone of ["x-drop", "keep-alive", "te", "proxy-connection", "upgrade"]) {
      expect(left).not.toContain(gone);
    }
    expect(left).toContain("x-keep");
    expect(value(seen, "x-user")).toBe("set by the gateway");
  });

  it("streams a large body of unknown length", async () => {
    const { url } = await startPlain(await startEcho());
    const piece = new Uint8Array(100_000);
    const body = new ReadableStream({
      start(controller) {
        for (let i = 0; i < 30; i++) controller.enqueue(piece);
        controller.close();
      },
    });
    const seen = await ask(url, { method: "POST", body, duplex: "half" });
    expect(seen.bytes).toBe(3_000_000);
    expect(value(seen, "transfer-encoding")).toBe("chunked");
  });

  it("keeps its announced length, large or small", async () => {
    const { url } = await startPlain(await startEcho());
    for (const size of [1, 16_384, 16_385, 1_000_000]) {
      const seen = await ask(url, { method: "POST", body: new Uint8Array(size) });
      expect(seen.bytes).toBe(size);
      expect(value(seen, "content-length")).toBe(String(size));
      expect(value(seen, "transfer-encoding")).toBeUndefined();
    }
  });

  it("can be read whole by a policy first", async () => {
    const { url } = await startHandwritten(await startEcho());
    const init = { method: "POST", body: new Uint8Array(500_000) };
    const seen = await ask(`${url}/buffered`, init);
    expect(seen.bytes).toBe(500_000);
    const large = { method: "POST", body: new Uint8Array(10_000_000) };
    const refused = await fetch(`${url}/buffered`, large);
    expect(refused.status).toBe(413);
    expect((await fetch(`${url}/`)).status).toBe(200);
  });

  it("is asked for its body only when somebody reads it", async () => {
    const { port } = await startHandwritten(await startEcho());
    const head = "Host: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n";
    const read = new RawClient(port);
    read.send(`POST / HTTP/1.1\r\n${head}`);
    await read.receives(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
    read.send("hello");
    await read.receives(/"bytes":5/);
    const refused = new RawClient(port);
    refused.send(`POST /missing HTTP/1.1\r\n${head}`);
    await refused.receives(/^HTTP\/1\.1 404/);
    await refused.closes();
  });
});

describe("a forwarded response", () => {
  it("gets the gateway's headers instead of the upstream's", async () => {
    const { url } = await startHandwritten(await startEcho());
    expect((await fetch(`${url}/keep-host`)).headers.get("x-response")).toBe("gateway");
    expect((await fetch(`${url}/`)).headers.get("x-response")).toBe("upstream");
  });

  it("keeps repeated headers apart and loses hop-by-hop ones", async () => {
    const upstream = await startRawUpstream((socket) => {
      socket.on("data", () =>
        socket.write(
          "HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nConnection: X-Secret-Hop\r\nX-Secret-Hop: 1\r\n" +
            "Proxy-Authenticate: Basic\r\nContent-Length: 2\r\n\r\nok",
        ),
      );
    });
    const { url } = await startPlain(upstream);
    const response = await fetch(url);
    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect(response.headers.get("x-secret-hop")).toBeNull();
    expect(response.headers.get("proxy-authenticate")).toBeNull();
    expect(await response.text()).toBe("ok");
  });

  it("has no body and no false length on HEAD, 204 and 304", async () => {
    const upstream = await startUpstream((request, response) => {
      if (request.url === "/204") response.writeHead(204).end();
      else if (request.url === "/304") response.writeHead(304, { etag: '"x"' }).end();
      else response.writeHead(200, { "content-length": "5" }).end("hello");
    });
    const { port } = await startPlain(upstream);
    const client = new RawClient(port);
    client.send("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n");
    await client.receives(/content-length: 5\r\n/i);
    client.send("GET /204 HTTP/1.1\r\nHost: x\r\n\r\n");
    await client.receives(/ 204 /);
    client.send("GET /304 HTTP/1.1\r\nHost: x\r\n\r\n");
    await client.receives(/ 304 /);
    client.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    await client.closes();
    const responses = client.received.split("HTTP/1.1 ").slice(1);
    expect(responses).toHaveLength(4);
    for (const bodiless of responses.slice(0, 3)) expect(bodiless.endsWith("\r\n\r\n")).toBe(true);
    for (const unframed of responses.slice(1, 3)) {
      expect(unframed).not.toMatch(/content-length|transfer-encoding/i);
    }
    expect(responses[3]?.endsWith("\r\n\r\nhello")).toBe(true);
  });

  it("with a value that can't be a header is a 502, never a header more", async () => {
    const { url } = await startHandwritten(await startEcho());
    const response = await fetch(`${url}/bad-header`);
    expect(response.status).toBe(502);
    expect(response.headers.getSetCookie()).toEqual([]);
    expect((await fetch(url)).status).toBe(200);
  });

  it("reaches a slow client whole that sends nothing more, and then the connection ends", async () => {
    const { port } = await startHandwritten(await startEcho());
    const client = new RawClient(port, { allowHalfOpen: true });
    client.socket.pause();
    client.send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
    await eventually(() => bytesUnread(client.socket) > 0 || null, "a response");
    client.socket.end();
    // Longer than a client may take that is owed nothing.
    await pause(1500);
    client.socket.resume();
    await client.closes();
    expect(client.received.split("\r\n\r\n")[1]).toHaveLength(16_777_216);
  });

  it("keeps header bytes beyond ASCII as they are", async () => {
    const upstream = await startRawUpstream((socket) => {
      socket.on("data", () =>
        socket.write(
          "HTTP/1.1 200 OK\r\nX-Name: Zo\xeb\r\nContent-Length: 3\r\n\r\n\xe2\x82\xac",
          "latin1",
        ),
      );
    });
    const { port } = await startPlain(upstream);
    const client = new RawClient(port);
    client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await client.receives(/\r\n\r\n\xe2\x82\xac$/);
    expect(client.received).toMatch(/X-Name: Zo\xeb\r\n/);
  });

  it("does not show interim responses as final ones", async () => {
    const upstream = await startUpstream((_request, response) => {
      response.writeEarlyHints({ link: "</a.css>; rel=preload" });
      response.end("final");
    });
    const { url } = await startPlain(upstream);
    expect(await (await fetch(url)).text()).toBe("final");
  });

  it("has its head and each event passed on before the next one exists", async () => {
    let stream: ServerResponse | undefined;
    const upstream = await startUpstream((_request, response) => {
      stream = response;
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.flushHeaders();
    });
    const { port } = await startPlain(upstream);
    const client = new RawClient(port);
    client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await client.receives(/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\n$/s);
    for (let i = 1; i <= 3; i++) {
      stream?.write(`data: ${i}\n\n`);
      await client.receives(new RegExp(`data: ${i}\n\n`));
    }
    stream?.end();
    await client.receives(/\r\n0\r\n\r\n$/);
  });

  it("has the bytes of its head as they were, also when the body comes later", async () => {
    const upstream = await startRawUpstream((socket) => {
      socket.once("data", () => {
        const head = "HTTP/1.1 200 OK\r\nX-Name: cr\xe8me\r\nContent-Length: 2\r\n\r\n";
        socket.write(head, "latin1");
        setTimeout(() => socket.write("ok"), 50);
      });
    });
    const { port } = await startPlain(upstream);
    const client = new RawClient(port);
    client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await client.receives(/ok$/);
    expect(client.received).toContain("X-Name: cr\xe8me\r\n");
  });

  it("is for a 1.0 client what it can read", async () => {
    const upstream = await startUpstream((_request, response) => {
      response.write("in ");
      response.end("pieces");
    });
    const { port } = await startPlain(upstream);
    const client = new RawClient(port);
    client.send("GET / HTTP/1.0\r\n\r\n");
    await client.closes();
    expect(client.received).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(client.received).not.toMatch(/transfer-encoding/i);
    expect(client.received.endsWith("\r\n\r\nin pieces")).toBe(true);
  });
});

it("methods beyond the usual ones are forwarded", async () => {
  const { port } = await startPlain(await startEcho());
  await new Promise<void>((resolve, reject) => {
    const request = httpRequest({ port, host: "127.0.0.1", method: "PROPFIND" }, (response) => {
      echo(response, () => {
        expect(response.statusCode).toBe(200);
        resolve();
      });
    });
    request.on("error", reject);
    request.end();
  });
});
