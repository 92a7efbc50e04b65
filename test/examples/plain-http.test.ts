import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import path from "node:path";
import { beforeEach, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { startUpstream } from "../harness/upstream.ts";

const fixture = path.join(import.meta.dirname, "fixtures", "plain-http.yaml");

/** The requests of the upstream and its mirror, and the responses of the upstream. */
interface World {
  readonly url: string;
  readonly reached: IncomingMessage[];
  readonly mirrored: IncomingMessage[];
  response: (request: IncomingMessage, response: ServerResponse) => void;
}

let world: World;

beforeEach(async () => {
  // Longer than a starved upstream takes.
  world = await startWorld("60s");
});

/** Starts a world in which responses may take so long. */
async function startWorld(requestTimeout: string): Promise<World> {
  const [reached, mirrored]: IncomingMessage[][] = [[], []];
  const upstream = await startUpstream((request, response) => {
    reached?.push(request);
    world.response(request, response);
  });
  const mirror = await startUpstream((request, response) => {
    mirrored?.push(request);
    response.end("nobody reads this");
  });
  return {
    url: await startFixture(upstream, mirror, requestTimeout),
    reached: reached ?? [],
    mirrored: mirrored ?? [],
    response: (_request, response) => {
      response.writeHead(200, { server: "python", header2: "2", "x-resp-set": "its own" });
      response.end("from upstream");
    },
  };
}

/** Returns the errors of gwc for the file, except for its ports and the pages that it names. */
async function startFixture(
  upstream: string,
  mirror: string,
  requestTimeout: string,
): Promise<string> {
  const text = readFileSync(fixture, "utf8")
    .replaceAll("127.0.0.1:8080", new URL(upstream).host)
    .replaceAll("127.0.0.1:8081", new URL(mirror).host)
    .replace("requestTimeout: 1s", `requestTimeout: ${requestTimeout}`)
    .replace("port: 3000", `port: ${await freePort()}`)
    .replace('- "*"', '- "https://app.test"');
  return (await startGateway({ config: text })).url;
}

const get = (target: string, headers: Record<string, string> = {}, method = "GET") =>
  fetch(`${world.url}${target}`, { method, headers, redirect: "manual" });

it("match: path, method, query and header all have to be right", async () => {
  const header = { "x-header": "test-0" };
  const response = await get("/match?param=hello", header);
  expect(await response.text()).toBe("from upstream");
  expect(world.reached[0]?.url).toBe("/match?param=hello");
  // Anything else is for the route behind, which rewrites.
  for (const [target, headers, method] of [
    ["/match?param=hello", { "x-header": "test-x" }, "GET"],
    ["/match?param=bye", header, "GET"],
    ["/match", header, "GET"],
    ["/match?param=hello", header, "DELETE"],
  ] as const) {
    world.reached.length = 0;
    expect((await get(target, headers, method)).status).toBe(200);
    expect(world.reached[0]?.url).toMatch(/^\/new-path/);
  }
});

it("direct-response, redirect and ip-rules answer without an upstream", async () => {
  const direct = await get("/direct");
  expect([direct.status, await direct.text()]).toEqual([200, "hello!"]);
  const redirect = await get("/old/page?a=b");
  expect(redirect.status).toBe(301);
  expect(redirect.headers.get("location")).toBe("https://www.example.com/new/page?a=b");
  expect(await (await get("/ips")).text()).toBe("you are near");
  expect((await get("/ips/far")).status).toBe(403);
  expect(world.reached).toEqual([]);
});

it("policies: headers are added, set and removed, path and host rewritten, the response's headers changed", async () => {
  const response = await get("/any/path?q=1", {
    origin: "https://app.test",
    "x-illegal-header": "x",
    "x-req-set": "the client's",
  });
  expect(await response.text()).toBe("from upstream");
  const { url, headers } = world.reached[0] ?? {};
  expect(url).toBe("/new-path?q=1");
  expect(headers).toMatchObject({
    host: "custom-host-header",
    "x-req-added": "value",
    "x-req-set": "value",
  });
  expect(headers).not.toHaveProperty("x-illegal-header");
  expect(response.headers.get("x-resp-set")).toBe("value");
  expect(response.headers.get("server")).toBeNull();
  expect(response.headers.get("access-control-allow-origin")).toBe("https://app.test");
  expect(response.headers.get("access-control-expose-headers")).toBe("header2");
});

it("policies: a preflight is answered here", async () => {
  const headers = { origin: "https://app.test", "access-control-request-method": "GET" };
  const response = await get("/any", headers, "OPTIONS");
  expect(response.status).toBe(200);
  expect(response.headers.get("access-control-allow-methods")).toBe("GET");
  expect(response.headers.get("access-control-allow-headers")).toBe("header");
  expect(response.headers.get("access-control-allow-credentials")).toBe("true");
  expect(response.headers.get("access-control-max-age")).toBe("100");
  expect(world.reached).toEqual([]);
});

it("policies: each request is mirrored, and the mirror's response is dropped", async () => {
  expect(await (await get("/any")).text()).toBe("from upstream");
  const copy = await eventually(() => world.mirrored[0] ?? null, "the copy");
  expect(copy.url).toBe("/new-path");
  expect(world.mirrored).toHaveLength(1);
});

it("policies: a response to retry is retried twice, and the last one counts", async () => {
  const statuses = [429, 503, 200];
  world.response = (_request, response) => {
    response.statusCode = statuses.shift() ?? 500;
    response.end(`${response.statusCode}`);
  };
  expect(await (await get("/any")).text()).toBe("200");
  const attempts = world.reached.map(({ headers }) => headers["x-retry-attempt"]);
  expect(attempts).toEqual([undefined, "1", "2"]);
  statuses.push(503, 503, 429);
  expect((await get("/any")).status).toBe(429);
});

it("policies: an upstream that takes longer than a second is a 504", async () => {
  world = await startWorld("1s");
  world.response = () => {};
  expect((await get("/any")).status).toBe(504);
});

it("policies: the eleventh request is one too many", async () => {
  const statuses: number[] = [];
  for (let count = 0; count < 11; count++) statuses.push((await get("/any")).status);
  expect(statuses).toEqual([...Array(10).fill(200), 429]);
  expect((await get("/direct")).status).toBe(200);
  const refused = await get("/any", { origin: "https://app.test" });
  expect(refused.headers.get("x-ratelimit-limit")).toBe("10");
  expect(refused.headers.get("access-control-allow-origin")).toBe("https://app.test");
});
