import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { writeFiles } from "../../compiler/4-emit/write.ts";
import { memoryHost } from "../../compiler/host.ts";
import { compileFile } from "../harness/compile-file.ts";
import {
  eventually,
  freePort,
  GatewayProcess,
  pause,
  startUpstream,
} from "../harness/gateway-process.ts";

const fixture = path.join(import.meta.dirname, "fixtures", "plain-http.yaml");

/** What the upstream and its mirror got, and how the upstream answers. */
interface World {
  readonly url: string;
  readonly reached: IncomingMessage[];
  readonly mirrored: IncomingMessage[];
  response: (request: IncomingMessage, response: ServerResponse) => void;
}

let world: World;

beforeEach(async () => {
  const [reached, mirrored]: IncomingMessage[][] = [[], []];
  const upstream = await startUpstream((request, response) => {
    reached?.push(request);
    world.response(request, response);
  });
  const mirror = await startUpstream((request, response) => {
    mirrored?.push(request);
    response.end("nobody reads this");
  });
  world = {
    url: await startGateway(upstream, mirror),
    reached: reached ?? [],
    mirrored: mirrored ?? [],
    response: (_request, response) => {
      response.writeHead(200, { server: "python", header2: "2", "x-resp-set": "its own" });
      response.end("from upstream");
    },
  };
});

/** The file as it stands, but for its ports. */
async function startGateway(upstream: string, mirror: string): Promise<string> {
  const text = readFileSync(fixture, "utf8")
    .replaceAll("127.0.0.1:8080", new URL(upstream).host)
    .replaceAll("127.0.0.1:8081", new URL(mirror).host)
    .replace("port: 3000", `port: ${await freePort()}`);
  const host = memoryHost({ "config.yaml": text });
  const { files } = await compileFile("config.yaml", {
    name: "plain-http",
    host,
    isTypeChecked: true,
  });
  const folder = mkdtempSync(path.join(tmpdir(), "gwc-example-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFiles(folder, files);
  const gateway = new GatewayProcess(path.join(folder, "gateway.mjs"), {});
  return `http://127.0.0.1:${await gateway.port()}`;
}

const get = (target: string, headers: Record<string, string> = {}, method = "GET") =>
  fetch(`${world.url}${target}`, { method, headers, redirect: "manual" });

test("match: path, method, query and header all have to be right", async () => {
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

test("direct-response, redirect and ip-rules answer without an upstream", async () => {
  const direct = await get("/direct");
  expect([direct.status, await direct.text()]).toEqual([200, "hello!"]);
  const redirect = await get("/old/page?a=b");
  expect(redirect.status).toBe(301);
  expect(redirect.headers.get("location")).toBe("https://www.example.com/new/page?a=b");
  expect(await (await get("/ips")).text()).toBe("you are near");
  expect((await get("/ips/far")).status).toBe(403);
  expect(world.reached).toEqual([]);
});

test("policies: headers are added, set and removed, path and host rewritten, the response's headers changed", async () => {
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

test("policies: a preflight is answered here", async () => {
  const headers = { origin: "https://app.test", "access-control-request-method": "GET" };
  const response = await get("/any", headers, "OPTIONS");
  expect(response.status).toBe(200);
  expect(response.headers.get("access-control-allow-methods")).toBe("GET");
  expect(response.headers.get("access-control-allow-headers")).toBe("header");
  expect(response.headers.get("access-control-allow-credentials")).toBe("true");
  expect(response.headers.get("access-control-max-age")).toBe("100");
  expect(world.reached).toEqual([]);
});

test("policies: each request is mirrored, and what the mirror answers is nobody's", async () => {
  expect(await (await get("/any")).text()).toBe("from upstream");
  const copy = await eventually(() => world.mirrored[0] ?? null, "the copy");
  expect(copy.url).toBe("/new-path");
  expect(world.mirrored).toHaveLength(1);
});

test("policies: a response to retry is retried twice, and the last one counts", async () => {
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

test("policies: an upstream that takes longer than a second is a 504", async () => {
  world.response = async (_request, response) => {
    await pause(5000);
    response.end("too late");
  };
  expect((await get("/any")).status).toBe(504);
});

test("policies: the eleventh request is one too many", async () => {
  const statuses: number[] = [];
  for (let count = 0; count < 11; count++) statuses.push((await get("/any")).status);
  expect(statuses).toEqual([...Array(10).fill(200), 429]);
  expect((await get("/direct")).status).toBe(200);
  const refused = await get("/any", { origin: "https://app.test" });
  expect(refused.headers.get("x-ratelimit-limit")).toBe("10");
  expect(refused.headers.get("access-control-allow-origin")).toBe("https://app.test");
});
