import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  createServer as createHttp2Server,
  type ServerHttp2Stream,
} from "node:http2";
import { beforeAll, describe, expect, it } from "vitest";
import { startEcho } from "../harness/echo.ts";
import { type EnvoyServices, startEnvoyServices } from "../harness/envoy-services.ts";
import { expositionOf } from "../harness/exposition.ts";
import type { Gateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { startRoutes } from "./routes.ts";

let services: EnvoyServices;
let gateway: Gateway;

/** The unanswered requests to the HTTP authorization server, by path. */
const held = new Map<string, ServerResponse[]>();
const heldOf = (path: string) => (held.get(path) ?? []).filter((each) => !each.destroyed);
/** Returns the number of all requests about a path. */
const askedOf = (path: string) => held.get(path)?.length ?? 0;

/** Servers have a minute to respond, so calls that end earlier were cancelled. */
const policies = { http: { requestTimeout: "1m" } };
const long = JSON.stringify({ sleep: 60 });

beforeAll(async () => {
  const http = createServer((request, response) => {
    const path = request.url ?? "";
    held.set(path, [...(held.get(path) ?? []), response]);
  });
  services = await startEnvoyServices();
  const asked = { host: new URL(services.url).host, policies };
  const overHttp = { host: `127.0.0.1:${await listen(http)}`, policies, protocol: { http: {} } };
  const cache = { key: ['request.headers["x-user"]'], ttl: "60s" };
  const entries = [{ key: "verdict", value: 'request.headers["x-verdict"]' }];
  gateway = await startRoutes(
    {
      grpc: { policies: { extAuthz: asked } },
      limit: {
        policies: { remoteRateLimit: { ...asked, domain: "a", descriptors: [{ entries }] } },
      },
      process: { policies: { extProc: asked } },
      http: { policies: { extAuthz: overHttp } },
      shared: { policies: { extAuthz: { ...overHttp, cache } } },
      sharedGrpc: { policies: { extAuthz: { ...asked, cache } } },
    },
    await startEcho(),
  );
});

/** Starts a client's request that can be aborted; `status` is undefined then. */
function client(path: string, headers: Record<string, string> = {}, at = gateway) {
  const leave = new AbortController();
  const status = fetch(`${at.url}${path}`, { headers, signal: leave.signal }).then(
    (response) => response.status,
    () => undefined,
  );
  return { status, leave: () => leave.abort() };
}

/** Returns the number of cancelled gRPC calls of a policy, from the metrics. */
async function cancelled(kind: string): Promise<number | undefined> {
  const target = new URL(services.url).host;
  const { value } = await expositionOf(await gateway.statsPort());
  return value(`gwc_callouts_total{kind="${kind}",target="${target}",result="cancelled"}`);
}

async function statusOf(stream: ClientHttp2Stream): Promise<unknown> {
  const [headers] = await once(stream.resume(), "response");
  return headers[":status"];
}

describe("a client that disconnects cancels", () => {
  it.each([
    ["grpc", "extAuthz", "CheckResponse", { "x-verdict": long }],
    ["limit", "remoteRateLimit", "RateLimitResponse", { "x-verdict": long }],
    ["process", "extProc", "ProcessingResponse", { "x-process": `{"request_headers":${long}}` }],
  ])("%s: %s over gRPC", async (route, kind, call, headers) => {
    const before = services.seen().length;
    const { leave, status } = client(`/${route}`, headers);
    await expect.poll(() => services.seen().length).toBe(before + 1);
    leave();
    expect(await status).toBeUndefined();
    await expect.poll(() => services.cancelled()).toContain(call);
    await expect.poll(() => cancelled(kind)).toBe(1);
    // The connection still belongs to another client.
    const verdict = route === "limit" ? '{"overall_code":"OK"}' : "{}";
    const yes = { "x-verdict": verdict, "x-process": "{}" };
    expect(await client(`/${route}`, yes).status).toBe(200);
  });

  it("extAuthz over HTTP", async () => {
    const { leave } = client("/http");
    await expect.poll(() => heldOf("/http").length).toBe(1);
    leave();
    await expect.poll(() => heldOf("/http").length).toBe(0);
  });

  it("over HTTP/2, where its connection stays open", async () => {
    const session = connect(gateway.url);
    const stream = session.request({ ":path": "/http/2" });
    await expect.poll(() => heldOf("/http/2").length).toBe(1);
    stream.close(constants.NGHTTP2_CANCEL);
    await expect.poll(() => heldOf("/http/2").length).toBe(0);
    const other = session.request({ ":path": "/http/2" });
    await expect.poll(() => heldOf("/http/2").length).toBe(1);
    heldOf("/http/2")[0]?.end();
    expect(await statusOf(other)).toBe(200);
    session.destroy();
  });
});

it("many clients that disconnect at once abort no other calls to the server", async () => {
  const { host, calls, release } = await startHeldAuthorization();
  const route = { policies: { extAuthz: { host, policies } } };
  const own = await startRoutes({ a: route }, await startEcho());
  const staying = client("/a", {}, own);
  // Node's server closes a connection on which a thousand calls are reset at once, as Envoy does.
  const sessions = Array.from({ length: 14 }, () => connect(own.url));
  const leaving = sessions.flatMap((session) =>
    Array.from({ length: 95 }, () => session.request({ ":path": "/a" }).on("error", () => {})),
  );
  await expect.poll(calls).toBe(1 + leaving.length);
  for (const each of leaving) each.close(constants.NGHTTP2_CANCEL);
  await expect.poll(() => own.stdout.split("ClientClosed").length - 1).toBe(leaving.length);
  release();
  expect(await staying.status).toBe(200);
  for (const each of sessions) each.destroy();
});

/** Starts a server that allows all requests once it is released. */
async function startHeldAuthorization() {
  const streams: ServerHttp2Stream[] = [];
  const server = createHttp2Server();
  server.on("stream", (stream) => {
    streams.push(stream.resume().on("error", () => {}));
  });
  const sayYes = (stream: ServerHttp2Stream) => {
    stream.respond({ "content-type": "application/grpc" }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    stream.end(Buffer.alloc(5));
  };
  return {
    host: `127.0.0.1:${await listen(server)}`,
    calls: () => streams.length,
    release: () => streams.filter((stream) => !stream.destroyed).forEach(sayYes),
  };
}

describe("a verdict that several clients wait for", () => {
  let session: ClientHttp2Session;

  /** Over one connection, so that all have sent their requests before one disconnects. */
  const clients = (count: number, path: string, headers: Record<string, string>) =>
    Array.from({ length: count }, () => session.request({ ":path": path, ...headers }));
  const leave = (stream: ClientHttp2Stream) => stream.close(constants.NGHTTP2_CANCEL);

  beforeAll(() => {
    session = connect(gateway.url);
    return () => session.destroy();
  });

  it("arrives for the others when the first client disconnects", async () => {
    const path = "/shared/stay";
    const ask = () => session.request({ ":path": path, "x-user": "a" });
    const [first, second] = [ask(), ask()];
    await expect.poll(() => heldOf(path).length).toBe(1);
    leave(first);
    await gateway.seen(/\/shared\/stay.*ClientClosed/);
    heldOf(path)[0]?.end();
    expect(await statusOf(second)).toBe(200);
    expect(askedOf(path)).toBe(1);
  });

  it("is cancelled when all have disconnected, and requested again by the next client", async () => {
    const path = "/shared/leave";
    const all = clients(3, path, { "x-user": "b" });
    await expect.poll(() => heldOf(path).length).toBe(1);
    for (const each of all) leave(each);
    await expect.poll(() => heldOf(path).length).toBe(0);
    const next = client(path, { "x-user": "b" });
    await expect.poll(() => heldOf(path).length).toBe(1);
    heldOf(path)[0]?.end();
    expect(await next.status).toBe(200);
    expect(askedOf(path)).toBe(2);
  });

  it("is shared over gRPC, too", async () => {
    const gone = () => services.cancelled().length;
    const seen = () => services.seen().length;
    const before = { gone: gone(), seen: seen() };
    const all = clients(2, "/sharedGrpc", { "x-user": "c", "x-verdict": long });
    await expect.poll(seen).toBe(before.seen + 1);
    for (const each of all) leave(each);
    await expect.poll(gone).toBe(before.gone + 1);
    expect(await client("/sharedGrpc", { "x-user": "c", "x-verdict": "{}" }).status).toBe(200);
  });
});
