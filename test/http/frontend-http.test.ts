import { expect, it } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import { RawClient, servedClient } from "../harness/raw-client.ts";
import { refusals } from "../harness/refusals.ts";
import { startUpstream } from "../harness/upstream.ts";
import { checkManifests, world } from "../kubernetes/manifests.ts";

const stdio = { name: "s", stdio: { cmd: "cat" } };

async function start(http: object) {
  const upstream = await startUpstream((request, response) => {
    request.resume();
    response.end("ok");
  });
  return startGateway({
    file: { frontendPolicies: { http } },
    listeners: [
      {
        routes: [
          { matches: [{ path: { exact: "/mcp" } }], backends: [{ mcp: { targets: [stdio] } }] },
          { backends: [{ host: upstream }] },
        ],
      },
    ],
  });
}

it("a message over maxBufferSize is answered 413, a body that nobody reads whole is not", async () => {
  const { port } = await start({ maxBufferSize: 1000 });
  const post = (path: string) =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      method: "POST",
      headers: {
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "ping",
        params: { x: "x".repeat(2000) },
      }),
    });
  expect((await post("/mcp")).status).toBe(413);
  expect((await post("/")).status).toBe(200);
});

it("a body that is larger than all buffers of the process is answered 413, with the field", async () => {
  const upstream = await startUpstream((_, response) => response.end("ok"));
  const MIB = 1024 * 1024;
  const large = { buffer: { request: { maxBytes: 4 * MIB } } };
  const { port } = await startGateway({
    file: { config: { maxBufferedBytes: MIB } },
    listeners: [
      {
        routes: [
          { matches: [{ path: { exact: "/mcp" } }], backends: [{ mcp: { targets: [stdio] } }] },
          { policies: large, backends: [{ host: upstream }] },
        ],
      },
    ],
  });
  const post = async (path: string, size: number) => {
    const headers = { "content-type": "application/json" };
    const body = "x".repeat(size);
    const url = `http://127.0.0.1:${port}${path}`;
    const response = await fetch(url, { method: "POST", headers, body });
    return { status: response.status, text: await response.text() };
  };
  const refused = {
    status: 413,
    text: expect.stringContaining(
      "request body larger than 1048576 bytes (config.maxBufferedBytes)",
    ),
  };
  expect(await post("/mcp", MIB + 1)).toEqual(refused);
  expect(await post("/", MIB + 1)).toEqual(refused);
  expect((await post("/", MIB - 1)).status).toBe(200);
});

it("policies hold bodies up to maxBufferSize: 413 for a request, 502 for a response", async () => {
  const upstream = await startUpstream((request, response) => {
    request.resume();
    request.on("end", () =>
      response.end("a".repeat(Number(request.url?.slice("/response/".length)))),
    );
  });
  const backends = [{ host: upstream }];
  const { port } = await startGateway({
    file: { frontendPolicies: { http: { maxBufferSize: 1000 } } },
    listeners: [
      {
        routes: [
          {
            name: "rule",
            matches: [{ path: { pathPrefix: "/rule" } }],
            policies: { authorization: { rules: ["size(request.body) > 0"] } },
            backends,
          },
          {
            name: "change",
            matches: [{ path: { pathPrefix: "/change" } }],
            policies: { transformations: { request: { set: { "x-size": "size(request.body)" } } } },
            backends,
          },
          {
            name: "response",
            matches: [{ path: { pathPrefix: "/response" } }],
            policies: {
              transformations: { response: { set: { "x-size": "size(response.body)" } } },
            },
            backends,
          },
        ],
      },
    ],
  });
  const status = async (path: string, size: number) => {
    const body = "a".repeat(size);
    return (await fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", body })).status;
  };
  expect(await status("/rule", 1000)).toBe(200);
  expect(await status("/rule", 1001)).toBe(413);
  expect(await status("/change", 1000)).toBe(200);
  expect(await status("/change", 1001)).toBe(413);
  expect(await status("/response/1000", 1001)).toBe(200);
  expect(await status("/response/1001", 1)).toBe(502);
});

it("one header more than http1MaxHeaders is answered 431", async () => {
  const { port } = await start({ http1MaxHeaders: 10 });
  const status = async (count: number) => {
    const client = new RawClient(port);
    client.send(`GET / HTTP/1.1\r\nHost: a\r\n${"X: y\r\n".repeat(count - 1)}\r\n`);
    await client.receives(/^HTTP\/1\.1 \d+/);
    return client.received.slice(9, 12);
  };
  expect(await status(10)).toBe("200");
  expect(await status(11)).toBe("431");
});

it("a connection without a request is closed after http1IdleTimeout, one with a request is not", async () => {
  const held: (() => void)[] = [];
  const upstream = await startUpstream((request, response) => {
    if (request.url === "/held") held.push(() => response.end("held"));
    else response.end("ok");
  });
  const { port } = await startGateway({
    file: { frontendPolicies: { http: { http1IdleTimeout: "1s" } } },
    listeners: [{ routes: [{ backends: [{ host: upstream }] }] }],
  });
  const busy = await servedClient(
    port,
    "GET /held HTTP/1.1\r\nHost: a\r\n\r\n",
    () => held.length > 0,
  );
  const started = performance.now();
  const idle = await servedClient(port, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await idle.closes();
  expect(performance.now() - started).toBeGreaterThan(800);
  expect(busy.isClosed).toBe(false);
  for (const answer of held) answer();
  await busy.receives(/held$/);
});

it.each([
  [{ http2ConnectionWindowSize: 1 }, []],
  [{ http2WindowSize: 2 ** 40 }, []],
  [{ maxBufferSize: 2 ** 32 - 1 }, []],
  [{ maxBufferSize: 2 ** 32 }, ["out-of-range"]],
  [{ http2KeepaliveInterval: "0s" }, ["out-of-range"]],
  [{ http1IdleTimeout: "999ms" }, ["out-of-range"]],
  [{ http2KeepaliveTimeout: "99ms" }, ["out-of-range"]],
])("a file and manifests take %j alike", (http, codes) => {
  const backends = [{ host: "a:1" }];
  const file = {
    frontendPolicies: { http },
    binds: [{ port: 3000, listeners: [{ routes: [{ backends }] }] }],
  };
  const target = { group: "gateway.networking.k8s.io", kind: "Gateway", name: "gw" };
  const policy = {
    apiVersion: "gwc.dev/v1alpha1",
    kind: "GatewayPolicy",
    metadata: { name: "p" },
    spec: { targetRefs: [target], frontend: { http } },
  };
  for (const text of [JSON.stringify(file), `${world}---\n${JSON.stringify(policy)}`]) {
    const found = checkManifests(text).diagnostics.filter(({ code }) => code === "out-of-range");
    expect(found.map(({ code }) => code)).toEqual(codes);
  }
});

it("bounds are those of the specification", () => {
  const of = (frontendPolicies: object) =>
    refusals({
      file: { frontendPolicies },
      listeners: [{ routes: [{ backends: [{ host: "a:1" }] }] }],
    });
  expect(of({ http: { maxBufferSize: 0 } })).toEqual(["out-of-range"]);
  expect(of({ http: { http1MaxHeaders: 4097 } })).toEqual(["out-of-range"]);
  expect(of({ http: { http1IdleTimeout: "999ms" } })).toEqual(["out-of-range"]);
  expect(of({ http: { http2FrameSize: 16_383 } })).toEqual(["out-of-range"]);
  expect(of({ http: { http2FrameSize: 1_677_216 } })).toEqual(["out-of-range"]);
  expect(of({ http: { http2WindowSize: 0 } })).toEqual(["out-of-range"]);
  expect(of({ http: {} })).toEqual(["out-of-range"]);
  expect(of({ tcp: { keepalives: { retries: 65 } } })).toEqual(["out-of-range"]);
  expect(of({ tcp: {} })).toEqual(["out-of-range"]);
});
