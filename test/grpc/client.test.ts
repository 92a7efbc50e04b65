import { createServer, type Http2Session, type ServerHttp2Stream } from "node:http2";
import { createServer as createTcpServer } from "node:net";
import { beforeAll, describe, expect, it } from "vitest";
import { bundle } from "../harness/bundle.ts";
import { eventually } from "../harness/eventually.ts";
import { listen } from "../harness/listen.ts";
import { patient } from "../harness/patient-callout.ts";
import { pause } from "../harness/pause.ts";
import { send } from "../harness/send.ts";
import { startUpstream } from "../harness/upstream.ts";
import { startRoutes } from "../policies/routes.ts";

const head = { ":status": 200, "content-type": "application/grpc" };

/** A server of gRPC that counts connections. */
class CountingServer {
  readonly sessions: Http2Session[] = [];
  readonly streams: ServerHttp2Stream[] = [];
  port = 0;

  async listen(onStream: (stream: ServerHttp2Stream) => void, settings = {}): Promise<this> {
    const server = createServer({ settings });
    server.on("session", (session) => {
      this.sessions.push(session);
      session.on("error", () => {});
    });
    server.on("stream", (stream) => {
      this.streams.push(stream);
      stream.on("error", () => {});
      stream.resume();
      onStream(stream);
    });
    this.port = await listen(server);
    return this;
  }

  get host(): string {
    return `127.0.0.1:${this.port}`;
  }
}

/** Says with this message that all is well. */
function respond(stream: ServerHttp2Stream, message: Uint8Array = Buffer.alloc(0)): void {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  stream.respond(head, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  stream.end(Buffer.concat([prefix, message]));
}

/** A CheckResponse that refuses, with a body of so many bytes. */
function refusal(size: number): Uint8Array {
  const body = field(3, Buffer.alloc(size, "a"));
  return Buffer.concat([field(1, Buffer.from([0x08, 7])), field(2, body)]);
}

function field(number: number, value: Buffer): Buffer {
  const length: number[] = [];
  let rest = value.length;
  for (; rest > 127; rest >>>= 7) length.push((rest & 127) | 128);
  return Buffer.concat([Buffer.from([number * 8 + 2, ...length, rest]), value]);
}

let upstream = "";

beforeAll(async () => {
  upstream = await startUpstream((_, response) => response.end("ok"));
});

function start(routes: Readonly<Record<string, object>>) {
  const cases = Object.entries(routes).map(([name, extAuthz]) => [
    name,
    { policies: { extAuthz: { ...extAuthz, policies: patient } } },
  ]);
  return startRoutes(Object.fromEntries(cases), { url: upstream });
}

describe("the client of gRPC", () => {
  it("asks a server on one connection, whichever routes ask it", async () => {
    const server = await new CountingServer().listen(respond);
    const { host } = server;
    const gateway = await start({ a: { host }, b: { host }, c: { host, failureMode: "allow" } });
    const paths = Array.from({ length: 90 }, (_, i) => ["a", "b", "c"][i % 3]);
    const responses = await Promise.all(paths.map((path) => send(`${gateway.url}/${path}`, "GET")));
    expect(responses.map(({ status }) => status)).toEqual(paths.map(() => 200));
    expect([server.sessions.length, server.streams.length]).toEqual([1, 90]);
  });

  it("lets more calls wait than the server takes at once", async () => {
    const [open, most] = [new Map<Http2Session, number>(), new Map<Http2Session, number>()];
    const server = await new CountingServer().listen(
      (stream) => {
        const { session } = stream;
        if (session === undefined) return;
        const count = (open.get(session) ?? 0) + 1;
        open.set(session, count);
        most.set(session, Math.max(most.get(session) ?? 0, count));
        setImmediate(() => {
          open.set(session, (open.get(session) ?? 0) - 1);
          respond(stream);
        });
      },
      { maxConcurrentStreams: 3 },
    );
    const gateway = await start({ a: { host: server.host } });
    // The server says how many it takes when the first call comes.
    expect((await send(`${gateway.url}/a`, "GET")).status).toBe(200);
    const asked = Array.from({ length: 40 }, () => send(`${gateway.url}/a`, "GET"));
    expect((await Promise.all(asked)).every(({ status }) => status === 200)).toBe(true);
    expect(Math.max(...most.values())).toBeLessThanOrEqual(3);
  });

  it("opens another connection for calls that a server does not take on the one it has", async () => {
    const held: ServerHttp2Stream[] = [];
    const server = await new CountingServer().listen(
      (stream) => {
        if (held.length < 7) held.push(stream);
        else respond(stream);
      },
      { maxConcurrentStreams: 2 },
    );
    const gateway = await start({ a: { host: server.host } });
    const waiting = Array.from({ length: 7 }, () => send(`${gateway.url}/a`, "GET"));
    await eventually(() => held[6] ?? null, "seven calls that last");
    expect(server.sessions).toHaveLength(4);
    expect((await send(`${gateway.url}/a`, "GET")).status).toBe(200);
    for (const stream of held) respond(stream);
    expect((await Promise.all(waiting)).every(({ status }) => status === 200)).toBe(true);
  });

  it("takes another connection when the server wants to leave, and ends its calls on the old one", async () => {
    const held: ServerHttp2Stream[] = [];
    const server = await new CountingServer().listen((stream) => {
      if (server.streams.length === 1) held.push(stream);
      else respond(stream);
    });
    const gateway = await start({ a: { host: server.host } });
    const first = send(`${gateway.url}/a`, "GET");
    await eventually(() => held[0] ?? null, "the first call");
    held[0]?.session?.goaway();
    await eventually(async () => {
      await send(`${gateway.url}/a`, "GET");
      return server.sessions.length > 1 || null;
    }, "another connection");
    expect(held[0]?.destroyed).toBe(false);
    if (held[0] !== undefined) respond(held[0]);
    expect((await first).status).toBe(200);
  });

  it("makes a call again that the server has not looked at, once", async () => {
    const server = await new CountingServer().listen((stream) => {
      if (server.streams.length === 1) stream.close(7);
      else respond(stream);
    });
    const gateway = await start({ a: { host: server.host } });
    expect((await send(`${gateway.url}/a`, "GET")).status).toBe(200);
    expect(server.streams).toHaveLength(2);
  });

  it("leaves a server alone for a while that can't be reached, and finds it when it is back", async () => {
    let connections = 0;
    const broken = createTcpServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    const port = await listen(broken);
    const gateway = await start({ a: { host: `127.0.0.1:${port}` } });
    const statuses = [];
    for (let i = 0; i < 60; i++) statuses.push((await send(`${gateway.url}/a`, "GET")).status);
    expect(statuses.every((status) => status === 403)).toBe(true);
    expect(connections).toBeLessThan(30);
    await new Promise((resolve) => broken.close(resolve));
    const server = createServer();
    server.on("stream", (stream) => respond(stream));
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    await eventually(async () => {
      await pause(50);
      return (await send(`${gateway.url}/a`, "GET")).status === 200 || null;
    }, "the server that is back");
    server.close();
  });

  it("takes messages of up to 4 MiB", async () => {
    const sizes: Record<string, number> = { "/small": 4_000_000, "/large": 4 * 1024 * 1024 + 1 };
    const servers = await Promise.all(
      Object.values(sizes).map((size) =>
        new CountingServer().listen((stream) => respond(stream, refusal(size))),
      ),
    );
    const [small, large] = servers.map(({ host }) => ({ host }));
    const gateway = await start({ small: small ?? {}, large: large ?? {} });
    const taken = await send(`${gateway.url}/small`, "GET");
    expect([taken.status, taken.body.length]).toEqual([403, 4_000_000]);
    const refused = await send(`${gateway.url}/large`, "GET");
    expect([refused.status, refused.body.length < 100]).toEqual([403, true]);
    await gateway.seen(/a message has \d+ bytes/);
  });
});

it.each([
  ["no callout", {}, {}, false],
  [
    "authorization over HTTP",
    { extAuthz: { host: "a.test:80", protocol: { http: {} } } },
    {},
    false,
  ],
  ["traces over HTTP", {}, { tracing: { host: "a.test:80", protocol: "http" } }, false],
  ["authorization over gRPC", { extAuthz: { host: "a.test:80" } }, {}, true],
  [
    "limits of a service",
    {
      remoteRateLimit: {
        host: "a.test:80",
        domain: "a",
        descriptors: [{ entries: [{ key: "a", value: "'a'" }] }],
      },
    },
    {},
    true,
  ],
  ["traces over gRPC", {}, { tracing: { host: "a.test:80" } }, true],
])(
  "a bundle has the client only where something is asked over gRPC: %s",
  async (_what, policies, frontendPolicies, has) => {
    const routes = [{ name: "a", policies, backends: [{ host: "b.test:80" }] }];
    const files = await bundle({
      config: { frontendPolicies, binds: [{ port: 3000, listeners: [{ routes }] }] },
    });
    const modules = files.find(({ path }) => path === "modules.json")?.text ?? "";
    expect(modules).toContain("runtime/http");
    expect([modules.includes("runtime/grpc/channel"), modules.includes("protobuf")]).toEqual([
      has,
      has,
    ]);
  },
);
