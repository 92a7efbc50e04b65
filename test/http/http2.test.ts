import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { type ClientHttp2Session, connect, constants } from "node:http2";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeCertificate } from "../harness/certificate.ts";
import { eventually } from "../harness/eventually.ts";
import { FrameClient, frameType, get, headerBlock, post } from "../harness/frame-client.ts";
import { startGateway } from "../harness/gateway.ts";
import { heldMegabytes } from "../harness/held-memory.ts";
import { pause } from "../harness/pause.ts";
import { startRawUpstream } from "../harness/raw-upstream.ts";
import { roundTripsUntil } from "../harness/round-trips.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { startUpstream } from "../harness/upstream.ts";

/** Never the synchronous form: the upstreams live in this process. */
const run = promisify(execFile);

const route = (host: string) => ({ routes: [{ backends: [{ host }] }] });

/** An upstream that tells what it got, behind a gateway. */
async function startEcho(file: object = {}) {
  const reached: string[] = [];
  const upstream = await startUpstream((request, response) => {
    const names = request.rawHeaders.filter((_name, index) => index % 2 === 0);
    reached.push(`${request.method} ${request.url} ${names}`);
    const hash = createHash("sha256");
    request.on("data", (chunk) => hash.update(chunk));
    request.on("end", () => {
      const { rawHeaders } = request;
      const body = JSON.stringify({ rawHeaders, digest: hash.digest("hex") });
      response.writeHead(200, ["X-Two", "1", "X-Two", "2", "Connection", "keep-alive"]);
      response.end(body);
    });
  });
  const gateway = await startGateway({ listeners: [route(upstream)], file });
  return { gateway, reached, port: gateway.port };
}

function open(authority: string, options: object = {}): ClientHttp2Session {
  const session = connect(authority, options);
  session.on("error", () => {});
  onTestFinished(() => session.destroy());
  return session;
}

interface Response {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
  readonly error: string | undefined;
}

function ask(
  session: ClientHttp2Session,
  headers: Readonly<Record<string, string | string[]>>,
  body?: Uint8Array,
): Promise<Response> {
  return new Promise((resolve) => {
    const stream = session.request(headers, { endStream: body === undefined });
    let head: Readonly<Record<string, unknown>> = {};
    let text = "";
    let error: string | undefined;
    stream.on("response", (received) => {
      head = received;
    });
    stream.on("data", (chunk) => {
      text += chunk;
    });
    stream.on("error", (problem) => {
      error = problem.message;
    });
    stream.on("close", () => resolve({ headers: head, body: text, error }));
    if (body !== undefined) stream.end(body);
  });
}

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
    return (await run("curl", ["-sk", version, "-w", "%{http_version}", url])).stdout;
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

  it("SIGTERM says GOAWAY, and streams under way end", async () => {
    const upstream = await startUpstream((_request, response) => {
      response.write("first ");
      setTimeout(() => response.end("second"), 500);
    });
    const gateway = await startGateway({ listeners: [route(upstream)] });
    const session = open(`http://127.0.0.1:${gateway.port}`);
    const response = ask(session, { ":path": "/" });
    let isTold = false;
    session.on("goaway", () => {
      isTold = true;
    });
    await pause(100);
    const ended = gateway.stop();
    expect((await response).body).toBe("first second");
    expect(await ended).toBe(0);
    expect(isTold).toBe(true);
  });
});

/** The bytes of a stream's first frame of headers; 0x88 and 0x8c are the indexed statuses 200 and 400. */
function status(client: FrameClient, stream: number): number | undefined {
  const payload = client.last(frameType.headers, stream)?.payload;
  if (payload === undefined) return undefined;
  if (payload[0] === 0x88) return 200;
  if (payload[0] === 0x8c) return 400;
  return Number(/\d{3}/.exec(payload.toString("latin1"))?.[0] ?? 1);
}

describe("requests that would mean two things", () => {
  const isDropped: ReadonlySet<string> = new Set([
    "a line break in a header",
    "a NUL in a header",
    "a name with a line break",
  ]);
  const malformed: readonly [string, readonly (readonly [string, string])[]][] = [
    ["a line break in a header", [...get, ["x", "a\r\nhost: b"]]],
    ["a NUL in a header", [...get, ["x", "a\0b"]]],
    ["a name in upper case", [...get, ["X-Up", "a"]]],
    ["a name with a line break", [...get, ["x: y\r\nz", "a"]]],
    ["transfer-encoding", [...post, ["transfer-encoding", "chunked"]]],
    ["connection", [...get, ["connection", "x-own"]]],
    ["a pseudo header behind others", [...get.slice(0, 3), ["x", "a"], [":authority", "b"]]],
    ["two paths", [...get, [":path", "/admin"]]],
    ["no path", [...get.slice(0, 2), [":authority", "a"]]],
    ["an unknown pseudo header", [...get, [":own", "a"]]],
    ["another host than the authority", [...get, ["host", "b"]]],
    ["an authority with a path", [...get.slice(0, 3), [":authority", "a/b"]]],
    ["an authority with a user", [...get.slice(0, 3), [":authority", "u@a"]]],
    ["no authority and no host", [...get.slice(0, 3)]],
    [
      "a path with a space",
      [
        [":method", "GET"],
        [":scheme", "http"],
        [":path", "/ HTTP/1.1\r\nx: y"],
        [":authority", "a"],
      ],
    ],
    [
      "a path without a slash",
      [
        [":method", "GET"],
        [":scheme", "http"],
        [":path", "a"],
        [":authority", "a"],
      ],
    ],
    [
      "a path above the root",
      [
        [":method", "GET"],
        [":scheme", "http"],
        [":path", "/a/../../b"],
        [":authority", "a"],
      ],
    ],
    ["a method with a space", [[":method", "GET / HTTP/1.1"], ...get.slice(1)]],
    [
      "CONNECT",
      [
        [":method", "CONNECT"],
        [":authority", "a:443"],
      ],
    ],
    ["two lengths", [...post, ["content-length", "1"], ["content-length", "2"]]],
    ["a length with a sign", [...post, ["content-length", "+1"]]],
    ["a length without a body", [...post, ["content-length", "5"]]],
  ];

  it("are refused, or arrive without what is wrong with them", async () => {
    const { port, reached } = await startEcho();
    for (const [name, headers] of malformed) {
      const client = new FrameClient(port);
      client.request(1, headers);
      const look = () =>
        client.isClosed ||
        client.last(frameType.reset, 1) !== undefined ||
        status(client, 1) !== undefined ||
        null;
      await eventually(look, `a refusal of ${name}`);
      // nghttp2 leaves out a field that can't be one; the request is then one that means one thing.
      const wanted = isDropped.has(name) ? ["GET / host,connection"] : [];
      expect(reached, name).toEqual(wanted);
      reached.length = 0;
    }
  });

  it("a body that is longer or shorter than its length never reaches an upstream whole", async () => {
    const { port, reached } = await startEcho();
    for (const body of ["abc", "abcdefghijGET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n"]) {
      const client = new FrameClient(port);
      client.request(1, [...post, ["content-length", "10"]], 4);
      client.send(frameType.data, 1, 1, Buffer.from(body));
      await eventually(
        () => client.isClosed || client.last(frameType.reset, 1) !== undefined || null,
        "a reset",
      );
      expect(status(client, 1)).not.toBe(200);
    }
    await pause(50);
    expect(reached.filter((each) => each.includes("smuggled"))).toEqual([]);
  });
});

describe("floods", () => {
  it("more headers than are allowed are answered 431, many more reset the stream", async () => {
    const { port } = await startEcho({ frontendPolicies: { http: { http1MaxHeaders: 20 } } });
    const many = (count: number) => Array.from({ length: count }, () => ["x", "y"] as const);
    const client = new FrameClient(port);
    client.request(1, [...get, ...many(20)]);
    await eventually(() => status(client, 1) ?? null, "a response");
    expect(status(client, 1)).toBe(431);
    const next = new FrameClient(port);
    next.request(1, [...get, ...many(200)]);
    await eventually(() => next.isClosed || next.last(frameType.reset, 1) || null, "a reset");
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200);
  });

  it.each([
    [
      "resets of streams",
      (client: FrameClient, round: number) => {
        client.request(2 * round + 1, get);
        client.send(frameType.reset, 0, 2 * round + 1, Buffer.from([0, 0, 0, 8]));
      },
    ],
    [
      "CONTINUATION frames without an end",
      (client: FrameClient, round: number) => {
        if (round === 0) client.request(1, get, 1);
        client.send(9, 0, 1, headerBlock([["x", "y"]]));
      },
    ],
    [
      "resets that it makes the gateway send",
      (client: FrameClient, round: number) => {
        client.request(2 * round + 1, get, 4);
        // A window that overflows is an error of the stream (RFC 9113 6.9.1).
        client.send(8, 0, 2 * round + 1, Buffer.from([0x7f, 0xff, 0xff, 0xff]));
      },
    ],
    [
      "SETTINGS whose responses it does not read",
      (client: FrameClient) => {
        client.socket.pause();
        client.send(frameType.settings, 0, 0);
      },
    ],
    [
      "PINGs whose responses it does not read",
      (client: FrameClient) => {
        client.socket.pause();
        client.send(frameType.ping, 0, 0, Buffer.alloc(8));
      },
    ],
  ])(
    "a client that floods with %s loses its connection, the others are served",
    async (_name, send) => {
      const { gateway, port } = await startEcho();
      const honest = open(`http://127.0.0.1:${port}`);
      await ask(honest, { ":path": "/" });
      const before = await heldMegabytes(gateway);
      const client = new FrameClient(port);
      // Enough to fill what the kernel keeps of its responses for who does not read them: a dozen megabytes.
      for (let round = 0; round < 2_000_000 && !client.isClosed; round++) {
        send(client, round);
        if (round % 500 === 0) await pause(1);
        if (client.frames.some((each) => each.type === frameType.goaway)) break;
      }
      client.socket.resume();
      await eventually(
        () => client.isClosed || client.last(frameType.goaway, 0) !== undefined || null,
        "the end of the connection",
      );
      expect((await ask(honest, { ":path": "/" })).headers[":status"]).toBe(200);
      expect((await heldMegabytes(gateway)) - before).toBeLessThan(10);
    },
    60_000,
  );
});

it("PINGs find a client that is gone, and idle connections are closed", async () => {
  const file = {
    frontendPolicies: {
      http: {
        http2KeepaliveInterval: "1s",
        http2KeepaliveTimeout: "300ms",
        http1IdleTimeout: "3s",
      },
    },
  };
  const { port } = await startEcho(file);
  // It never answers a PING.
  const mute = new FrameClient(port);
  await eventually(() => mute.last(frameType.ping, 0) ?? null, "a PING");
  await eventually(() => mute.isClosed || null, "the end of the connection");
  const idle = open(`http://127.0.0.1:${port}`);
  const started = performance.now();
  await new Promise((resolve) => idle.on("close", resolve));
  expect(performance.now() - started).toBeGreaterThan(1500);
});
