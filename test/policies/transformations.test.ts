import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { type Echo, type Echoed, startEcho } from "../harness/echo.ts";
import type { Gateway } from "../harness/gateway.ts";
import { type Scripted, startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";
import { findings } from "./refused.ts";
import { startRoutes } from "./routes.ts";
import { transformationRoutes } from "./transformation-routes.ts";

let gateway: Gateway;
let echo: Echo;
let upstream: Scripted;
/** The next response of the scripted upstream. */
let next: { status: number; headers: Record<string, string>; body: string | Buffer };

function echoed({ body }: { body: string }): Echoed {
  return JSON.parse(body);
}

beforeAll(async () => {
  echo = await startEcho({ "x-upstream": "1" });
  upstream = await startScripted((response) => {
    response.writeHead(next.status, next.headers).end(next.body);
  });
  gateway = await startRoutes(transformationRoutes(upstream.host), echo);
});

const seen = async (route: string, headers: Record<string, string> = {}): Promise<Echoed> =>
  JSON.parse((await send(`${gateway.url}/${route}`, "GET", headers)).body);

function responseWith(
  body: string | Buffer,
  headers: Record<string, string> = {},
  status = 200,
): void {
  next = { status, headers, body };
}

describe("of a request", () => {
  it("headers are added, set and removed; a failed value adds and sets nothing", async () => {
    const { headers } = await seen("headers", {
      "x-added": "client",
      "x-set": "client",
      "x-failed": "client",
      "x-removed": "client",
    });
    expect(headers).toMatchObject({ "x-added": "client, gateway GET", "x-set": "client!" });
    expect(headers).not.toHaveProperty("x-failed");
    expect(headers).not.toHaveProperty("x-removed");
    expect((await seen("cluster")).headers["x-set"]).toBe("1");
  });

  it("every expression sees the original request", async () => {
    const { headers } = await seen("snapshot", { "x-a": "1", "x-b": "2" });
    expect(headers).toMatchObject({ "x-a": "2", "x-b": "1" });
  });

  it("values of every type become strings", async () => {
    const { headers } = await seen("types", { "x-null": "client" });
    expect(headers).toMatchObject({
      "x-int": "2",
      "x-bool": "true",
      "x-list": '["a","b"]',
      "x-map": '{"a":1}',
    });
    expect(headers).not.toHaveProperty("x-null");
  });

  it("pseudo headers are method, path and Host", async () => {
    const echoed = await seen("pseudo", { "x-path": "/new?q=1" });
    expect(echoed).toMatchObject({
      method: "PUT",
      url: "/new?q=1",
      headers: { host: "new.example" },
    });
    const both = await seen("rewritten-too");
    expect(both).toMatchObject({ url: "/api/x?y=1", headers: { host: "last.example" } });
  });

  it.each(["no-slash", "/a b", "/a#b", "/a/../../b", "/%2e%2E/b", "/a\\b", "/a%2fb", "/..;/a"])(
    "a path with two readings is a 400: %s",
    async (path) => {
      const before = upstream.received.length;
      expect((await send(`${gateway.url}/pseudo`, "GET", { "x-path": path })).status).toBe(400);
      expect(upstream.received).toHaveLength(before);
    },
  );

  it("no value ends its header", async () => {
    const ask = (text: string) =>
      send(`${gateway.url}/text`, "GET", { "x-text": Buffer.from(text).toString("base64") });
    for (const text of ["a\r\nx-forged: 1", "a\nb", "a\rb", "a\u0000b", "a\u007fb", "a\u001bb"]) {
      const { status, headers, body } = await ask(text);
      expect(status).toBe(200);
      expect(headers).not.toHaveProperty("x-value");
      expect(headers).not.toHaveProperty("x-forged");
      const echoed: Echoed = JSON.parse(body);
      expect(echoed.headers).not.toHaveProperty("x-value");
      expect(echoed.headers).not.toHaveProperty("x-forged");
    }
    const { headers } = await ask("snow ☃ man");
    expect(Buffer.from(String(headers["x-value"]), "latin1").toString("utf8")).toBe("snow ☃ man");
    expect((await ask("crème")).headers["x-value"]).toBe("crème");
    expect((await ask(" tab\tinside ")).headers["x-value"]).toBe("tab\tinside");
  });

  it("the body is replaced with its new length", async () => {
    responseWith("ok");
    await send(`${gateway.url}/body`, "POST", { "content-type": "application/json" }, '{"a":1}');
    expect(upstream.received.at(-1)?.body.toString()).toBe('{"wrapped":{"a":1},"by":"/body"}');
    await send(`${gateway.url}/fixed`, "POST", {}, "x".repeat(500_000));
    expect(upstream.received.at(-1)).toMatchObject({ headers: { "content-length": "5" } });
    expect(upstream.received.at(-1)?.body.toString()).toBe("fixed");
    await send(`${gateway.url}/fixed`, "GET");
    expect(upstream.received.at(-1)?.body.toString()).toBe("fixed");
    await send(`${gateway.url}/failing`, "POST", {}, "{}");
    expect(upstream.received.at(-1)?.body.toString()).toBe("");
  });
});

describe("an expression that reads the body", () => {
  const post = async (route: string, body: string | Buffer, headers: Record<string, string> = {}) =>
    (await send(`${gateway.url}/${route}`, "POST", headers, body)).status;

  it("sees all of it, even if it is compressed", async () => {
    responseWith("ok");
    expect(await post("ruled", '{"name":"alice"}')).toBe(200);
    expect(await post("ruled", '{"name":"bob"}')).toBe(403);
    expect(await post("ruled", "not json")).toBe(403);
    const zipped = gzipSync('{"name":"alice"}');
    expect(await post("ruled", zipped, { "content-encoding": "gzip" })).toBe(200);
    expect(upstream.received.at(-1)?.body.equals(zipped)).toBe(true);
    expect(upstream.received.at(-1)?.headers["content-encoding"]).toBe("gzip");
  });

  it("can't be bypassed by padding, compression or an unknown coding", async () => {
    responseWith("ok");
    expect(await post("denied", "fine")).toBe(200);
    expect(await post("denied", "this is bad")).toBe(403);
    expect(await post("denied", gzipSync("this is bad"), { "content-encoding": "gzip" })).toBe(403);
    expect(await post("denied", `${" ".repeat(2_100_000)}bad`)).toBe(413);
    expect(await post("denied", "bad", { "content-encoding": "gzip" })).toBe(400);
    expect(await post("denied", "bad", { "content-encoding": "gzip, br" })).toBe(415);
    expect(await post("denied", "bad", { "content-encoding": "compress" })).toBe(415);
  });

  it("a zip bomb is refused before it is unpacked", async () => {
    const bomb = gzipSync(Buffer.alloc(20_000_000));
    // Unpacking it completely would reveal damage, which is a 400.
    bomb.fill(0xff, bomb.length - 100);
    expect(await post("denied", bomb, { "content-encoding": "gzip" })).toBe(413);
    const small = gzipSync(Buffer.alloc(20_000));
    small.fill(0xff, small.length - 10);
    expect(await post("denied", small, { "content-encoding": "gzip" })).toBe(400);
  });
});

describe("of a response", () => {
  it("headers are added, set and removed", async () => {
    responseWith("ok", { "x-added": "upstream", server: "upstream", "x-removed": "1" });
    const { headers, body } = await send(`${gateway.url}/response-headers`, "GET");
    expect(headers).toMatchObject({
      "x-added": ["upstream", "200"],
      "x-path": "/response-headers",
    });
    expect(headers).not.toHaveProperty("server");
    expect(headers).not.toHaveProperty("x-removed");
    expect(body).toBe("ok");
  });

  it("the status is a pseudo header", async () => {
    responseWith("teapot", {}, 418);
    expect((await send(`${gateway.url}/status`, "GET")).status).toBe(200);
    responseWith("fine", {}, 200);
    expect((await send(`${gateway.url}/status`, "GET")).status).toBe(502);
  });

  it.each([
    ["404", 404],
    ["0x194", 200],
    ["4e2", 200],
    ["404.0", 200],
    ["199", 200],
    ["600", 200],
    ["", 200],
  ])("a string of three digits is a status: %s", async (text, status) => {
    responseWith("", { "x-status": text });
    expect((await send(`${gateway.url}/status-text`, "GET")).status).toBe(status);
  });

  it("the body is read and replaced", async () => {
    responseWith("inner", { etag: '"1"' });
    const { headers, body } = await send(`${gateway.url}/response-body`, "GET");
    expect(body).toBe("<inner>");
    expect(headers).toMatchObject({ "x-size": "5", "content-length": "7" });
    responseWith(gzipSync("inner"), { "content-encoding": "gzip" });
    const zipped = await send(`${gateway.url}/response-body`, "GET", { "accept-encoding": "gzip" });
    expect(zipped.body).toBe("<inner>");
    expect(zipped.headers).not.toHaveProperty("content-encoding");
    expect(upstream.received.at(-1)?.headers).not.toHaveProperty("accept-encoding");
  });

  it("a body that is only read stays unchanged", async () => {
    const zipped = gzipSync("x".repeat(1000));
    responseWith(zipped, { "content-encoding": "gzip" });
    const { headers } = await send(`${gateway.url}/response-read`, "GET");
    expect(headers).toMatchObject({
      "x-size": "1000",
      "content-encoding": "gzip",
      "content-length": String(zipped.length),
    });
  });

  it("a body that is not read is replaced without waiting for it", async () => {
    responseWith("x".repeat(3_000_000));
    const { body } = await send(`${gateway.url}/response-fixed`, "GET");
    expect(body).toBe("fixed 200");
    const head = await send(`${gateway.url}/response-fixed`, "HEAD");
    expect(head).toMatchObject({ status: 200, body: "" });
  });

  it("a body that is too large to buffer is a 502", async () => {
    responseWith("x".repeat(2_100_000));
    expect((await send(`${gateway.url}/response-body`, "GET")).status).toBe(502);
    responseWith(gzipSync(Buffer.alloc(100_000_000)), { "content-encoding": "gzip" });
    const { status, body } = await send(`${gateway.url}/response-body`, "GET");
    expect({ status, body }).toEqual({
      status: 502,
      body: "upstream returned an invalid response",
    });
  });

  it("responses of the gateway itself are changed, too", async () => {
    const { status, headers, body } = await send(`${gateway.url}/local`, "GET");
    expect({ status, body }).toEqual({ status: 201, body: "changed" });
    expect(headers["x-status"]).toBe("200");
  });
});

it("expressions see the caller's identity", async () => {
  const key = { authorization: "Bearer key" };
  const { headers, body } = await send(`${gateway.url}/identity`, "GET", key);
  expect(headers["x-user"]).toBe("alice");
  expect((JSON.parse(body) as Echoed).headers["x-user"]).toBe("alice");
  const nobody = await send(`${gateway.url}/identity`, "GET", { "x-user": "forged" });
  expect(nobody.headers).not.toHaveProperty("x-user");
  expect((JSON.parse(nobody.body) as Echoed).headers).not.toHaveProperty("x-user");
});

describe("replacing all headers", () => {
  it("a map replaces the headers; `set` is applied afterwards", async () => {
    const { headers } = echoed(
      await send(`${gateway.url}/replaced`, "GET", { "x-kept": "1", "x-dropped": "1" }),
    );
    expect(headers).toMatchObject({
      "x-kept": "1",
      "x-list": "a, b",
      "x-number": "7",
      "x-top": "1",
    });
    expect(headers).not.toHaveProperty("x-dropped");
    expect(headers).not.toHaveProperty("x-null");
  });

  it("connection headers stay the gateway's", async () => {
    const sent = Buffer.from('{"host":"evil","transfer-encoding":"chunked","content-length":"3"}');
    const headers = { "x-text": sent.toString("base64"), "content-type": "text/plain" };
    const seen = echoed(await send(`${gateway.url}/replaced-by`, "POST", headers, "four"));
    expect(seen.headers.host).not.toBe("evil");
    expect(seen.headers["content-length"]).toBe("4");
    expect(seen.headers).not.toHaveProperty("transfer-encoding");
    expect(seen.headers).not.toHaveProperty("content-type");
  });

  it("an invalid map leaves none of the client's headers", async () => {
    const replace = async (text: string) => {
      const value = Buffer.from(text).toString("base64");
      return echoed(await send(`${gateway.url}/replaced-by`, "GET", { "x-text": value })).headers;
    };
    expect(await replace("[1]")).not.toHaveProperty("x-text");
    expect(await replace("no json")).not.toHaveProperty("x-text");
    const odd = await replace('{"x-a":"1\\r\\nx-b: 2","x c":"1","x-d":{},"x-e":"\\u2603"}');
    expect(odd).toHaveProperty("x-e");
    for (const name of ["x-text", "x-a", "x-b", "x c", "x-d"]) {
      expect(odd).not.toHaveProperty(name);
    }
  });

  it("of a response", async () => {
    responseWith("body", { "x-dropped": "1" });
    const { headers, body } = await send(`${gateway.url}/response-replaced`, "GET");
    expect([headers["x-only"], headers["x-dropped"], body]).toEqual(["200", undefined, "body"]);
  });
});

it("metadata is available later, even for the response", async () => {
  const { headers, body } = await send(`${gateway.url}/metadata`, "GET", { "x-tier": "gold" });
  expect(echoed({ body }).headers).toMatchObject({ "x-tier-copy": "gold", "x-size": "2" });
  expect(headers).toMatchObject({ "x-tier": "gold", "x-doubled": "400" });
  const without = await send(`${gateway.url}/metadata`, "GET");
  expect(echoed(without).headers).not.toHaveProperty("x-tier-copy");
});

it("the first conditional transformation that applies is used", async () => {
  const get = async (headers: Record<string, string>) => {
    const response = await send(`${gateway.url}/conditional`, "GET", headers);
    return [echoed(response).headers["x-case"], response.headers["x-case"]];
  };
  expect(await get({ "x-ask": "a" })).toEqual(["a", "a"]);
  expect(await get({ "x-ask": "b" })).toEqual([undefined, "b"]);
  expect(await get({})).toEqual(["else", undefined]);
});

it("a pseudo header can be added as well as set", async () => {
  expect(echoed(await send(`${gateway.url}/pseudo-added`, "GET"))).toMatchObject({
    method: "PUT",
    url: "/added?a=1",
  });
});

it("only the last conditional entry may lack a condition", () => {
  const found = (transformations: object) => findings({ policies: { transformations } });
  const set = { request: { set: { "x-a": '"1"' } } };
  const condition = 'request.method == "GET"';
  expect(found({ conditional: [{ condition, ...set }, set] })).toEqual([]);
  expect(found({ conditional: [set, { condition, ...set }] })).toEqual(["early-fallback"]);
  expect(found({ conditional: [{ condition }] })).toEqual(["wrong-choice"]);
  expect(found({ conditional: [set], ...set })).toEqual(["broken-rule"]);
  expect(found({ conditional: [{ condition: "response.code == 1", ...set }] })).toEqual([
    "cel-wrong-phase",
  ]);
});

it("connection headers, unknown pseudo headers and invalid expressions are mistakes", () => {
  const request = (changes: object) =>
    findings({ policies: { transformations: { request: changes } } });
  expect(request({ set: { "content-length": '"1"' } })).toEqual(["connection-header"]);
  expect(request({ set: { host: '"a"' } })).toEqual(["connection-header"]);
  expect(request({ set: { ":status": "200" } })).toEqual(["pseudo-header"]);
  expect(request({ remove: [":path"] })).toEqual(["pseudo-header"]);
  expect(request({ add: { ":path": '"/"' }, set: { ":path": '"/"' } })).toEqual([
    "header-conflict",
  ]);
  expect(request({ set: { "x-a": "response.code" } })).toEqual(["cel-wrong-phase"]);
  expect(request({ body: "request.boddy" })).toEqual(["cel-unknown-field"]);
  const backends = [{ mcp: { targets: [{ name: "one", mcp: { host: "http://127.0.0.1:1/" } }] } }];
  expect(
    findings({ policies: { transformations: { request: { body: '""' } } }, backends }),
  ).toEqual([]);
});
