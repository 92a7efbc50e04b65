import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { constants } from "node:http2";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { makeCertificate } from "../harness/certificate.ts";
import { eventually } from "../harness/eventually.ts";
import { FrameClient, frameType } from "../harness/frame-client.ts";
import { startGateway } from "../harness/gateway.ts";
import { pause } from "../harness/pause.ts";
import { startRawUpstream } from "../harness/raw-upstream.ts";
import { roundTripsUntil } from "../harness/round-trips.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { program } from "../harness/tool.ts";
import { startUpstream } from "../harness/upstream.ts";
import { ask, open, route, startEcho } from "./http2-client.ts";

/** Never the synchronous form: the upstreams live in this process. */
const run = promisify(execFile);

it("a client with prior knowledge and one of HTTP/1.1 share a plain port", async () => {
  const { port, gateway } = await startEcho();
  const session = open(`http://127.0.0.1:${port}`);
  const responses = await Promise.all(
    Array.from({ length: 50 }, (_, index) => ask(session, { ":path": `/${index}` })),
  );
  expect(responses.map(({ headers }) => headers[":status"])).toEqual(Array(50).fill(200));
  const [first] = responses;
  expect(first?.headers["x-two"]).toBe("1, 2");
  expect(first?.headers.connection).toBeUndefined();
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200);
  await gateway.seen(/http\.version=HTTP\/2 http\.status=200/);
  await gateway.seen(/http\.version=HTTP\/1\.1 http\.status=200/);
});

it("over TLS the version is the one that ALPN agreed on", async () => {
  const folder = temporaryFolder();
  makeCertificate(folder, "site");
  const upstream = await startUpstream((_request, response) => response.end("ok"));
  const tls = { cert: "site.pem", key: "site.key" };
  const { port } = await startGateway({
    listeners: [{ protocol: "HTTPS", tls, ...route(upstream) }],
    folder,
  });
  const session = open(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
  expect((await ask(session, { ":path": "/" })).body).toBe("ok");
  expect(session.alpnProtocol).toBe("h2");
  const curl = async (version: string) => {
    const url = `https://127.0.0.1:${port}/`;
    return (await run(program("curl"), ["-sk", version, "-w", "%{http_version}", url])).stdout;
  };
  expect(await curl("--http2")).toBe("ok2");
  expect(await curl("--http1.1")).toBe("ok1.1");
});

it("what arrives upstream is one HTTP/1.1 request: host, one cookie, nothing of the framing", async () => {
  const { port } = await startEcho();
  const session = open(`http://127.0.0.1:${port}`);
  const bytes = randomBytes(3_000_000);
  const { body } = await ask(
    session,
    {
      ":method": "POST",
      ":path": "/a?b=c",
      ":authority": "api.example.com",
      cookie: ["a=1", "b=2"],
      te: "trailers",
      "x-own": "v",
    },
    bytes,
  );
  const { rawHeaders, digest } = JSON.parse(body);
  expect(digest).toBe(createHash("sha256").update(bytes).digest("hex"));
  const headers = Object.fromEntries(
    Array.from({ length: rawHeaders.length / 2 }, (_, i) => rawHeaders.slice(2 * i, 2 * i + 2)),
  );
  expect(headers).toMatchObject({ cookie: "a=1; b=2", "x-own": "v" });
  expect(Object.keys(headers).filter((name) => /^(:.*|te)$/i.test(name))).toEqual([]);
  expect(rawHeaders.filter((name: string) => /^host$/i.test(name))).toHaveLength(1);
});

it("HEAD, 204 and 304 end with their head; a body of unknown length streams", async () => {
  const upstream = await startUpstream((request, response) => {
    if (request.url === "/304") response.writeHead(304).end();
    else if (request.url === "/204") response.writeHead(204).end();
    else {
      response.write("first ");
      setTimeout(() => response.end("second"), 50);
    }
  });
  const { port } = await startGateway({ listeners: [route(upstream)] });
  const session = open(`http://127.0.0.1:${port}`);
  expect(await ask(session, { ":path": "/304" })).toMatchObject({ body: "", error: undefined });
  expect(await ask(session, { ":path": "/204" })).toMatchObject({ body: "", error: undefined });
  const head = await ask(session, { ":method": "HEAD", ":path": "/" });
  expect(head).toMatchObject({ body: "", error: undefined });
  expect((await ask(session, { ":path": "/" })).body).toBe("first second");
});

it("Expect: 100-continue is answered when the body is wanted", async () => {
  const { port } = await startEcho();
  const session = open(`http://127.0.0.1:${port}`);
  const stream = session.request({ ":method": "POST", ":path": "/", expect: "100-continue" });
  await new Promise((resolve) => stream.on("continue", resolve));
  stream.end("body");
  const status = await new Promise((resolve) =>
    stream.on("response", (headers) => resolve(headers[":status"])),
  );
  expect(status).toBe(200);
});

it("an empty body that ends in a frame of its own is empty, and not awaited", async () => {
  const { port, reached } = await startEcho();
  const session = open(`http://127.0.0.1:${port}`);
  for (const headers of [{}, { "content-length": "0" }]) {
    const post = { ":method": "POST", ":path": "/", ...headers };
    const response = await ask(session, post, new Uint8Array());
    expect(response.headers[":status"]).toBe(200);
  }
  expect(reached).toHaveLength(2);
});

describe("an exchange that does not end well", () => {
  it("a client that resets its stream aborts the upstream call at once", async () => {
    let aborted = 0;
    const upstream = await startUpstream((request, response) => {
      if (request.url === "/other") return void response.end("ok");
      response.write("x");
      response.on("close", () => {
        aborted += 1;
      });
    });
    const { port } = await startGateway({ listeners: [route(upstream)] });
    const session = open(`http://127.0.0.1:${port}`);
    for (let number = 1; number <= 5; number++) {
      const stream = session.request({ ":path": "/" });
      await new Promise((resolve) => stream.once("data", resolve));
      stream.close(constants.NGHTTP2_CANCEL);
      const others = await roundTripsUntil(
        () => aborted === number,
        () => ask(session, { ":path": "/other" }),
      );
      expect(others).toBeLessThan(20);
    }
    expect(session.destroyed).toBe(false);
  });

  it("an upstream that dies in the middle resets the stream, and no other", async () => {
    const heads = ["Content-Length: 100\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n4\r\n"];
    const upstream = await startRawUpstream((socket) => {
      socket.once("data", () => {
        socket.write(`HTTP/1.1 200 OK\r\n${heads.shift()}half`);
        setTimeout(() => socket.destroy(), 20);
      });
    });
    const { port } = await startGateway({ listeners: [route(upstream)] });
    const session = open(`http://127.0.0.1:${port}`);
    for (let round = 0; round < 2; round++) {
      const response = await ask(session, { ":path": "/" });
      expect(response.error).toMatch(/INTERNAL_ERROR/);
    }
    expect(session.destroyed).toBe(false);
  });

  it("a slow reader pauses its upstream", async () => {
    let sent = 0;
    const upstream = await startUpstream((_request, response) => {
      const piece = Buffer.alloc(65_536);
      const more = () => {
        while (sent < 200_000_000) {
          sent += piece.length;
          if (!response.write(piece)) break;
        }
      };
      response.on("drain", more);
      more();
    });
    const gateway = await startGateway({ listeners: [route(upstream)] });
    const session = open(`http://127.0.0.1:${gateway.port}`);
    const stream = session.request({ ":path": "/" });
    await new Promise((resolve) => stream.once("response", resolve));
    await pause(1000);
    expect(sent).toBeLessThan(20_000_000);
  });

  it("SIGTERM sends GOAWAY, and streams in flight end", async () => {
    let finish: (() => void) | undefined;
    const upstream = await startUpstream((_request, response) => {
      response.write("first ");
      finish = () => response.end("second");
    });
    const gateway = await startGateway({ listeners: [route(upstream)] });
    const session = open(`http://127.0.0.1:${gateway.port}`);
    const response = ask(session, { ":path": "/" });
    let isTold = false;
    session.on("goaway", () => {
      isTold = true;
    });
    await eventually(() => finish ?? null, "the request");
    const ended = gateway.stop();
    await eventually(() => isTold || null, "GOAWAY");
    finish?.();
    expect((await response).body).toBe("first second");
    expect(await ended).toBe(0);
  });
});

it("PINGs find a client that is gone", async () => {
  const http = { http2KeepaliveInterval: "1s", http2KeepaliveTimeout: "300ms" };
  const { port } = await startEcho({ frontendPolicies: { http } });
  // It never answers a PING.
  const mute = new FrameClient(port);
  await eventually(() => mute.last(frameType.ping, 0) ?? null, "a PING");
  await eventually(() => mute.isClosed || null, "the end of the connection");
});

it("an idle connection is closed after its idle time, although it answers PINGs", async () => {
  const http = {
    http2KeepaliveInterval: "1s",
    // A busy machine answers late, and must not count as gone.
    http2KeepaliveTimeout: "60s",
    http1IdleTimeout: "2s",
  };
  const { port } = await startEcho({ frontendPolicies: { http } });
  // The gateway's idle time starts when it accepts the connection, which is later than this.
  const started = performance.now();
  const idle = open(`http://127.0.0.1:${port}`);
  await new Promise((resolve) => idle.on("close", resolve));
  expect(performance.now() - started).toBeGreaterThan(1900);
});
