import { createServer, type IncomingMessage } from "node:http";
import { connect, createServer as createHttp2Server, type IncomingHttpHeaders } from "node:http2";
import { beforeAll, describe, expect, it } from "vitest";
import { atEnd } from "../harness/at-end.ts";
import { eventually } from "../harness/eventually.ts";
import { FrameClient, frameType, headerBlock, post } from "../harness/frame-client.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { RawClient } from "../harness/raw-client.ts";

/** The request that a server received. */
interface Seen {
  readonly path: string;
  readonly server: "http1" | "http2";
  readonly announced: string | undefined;
  readonly body: string;
  readonly trailers: Readonly<Record<string, unknown>>;
}

const seen: Seen[] = [];
let gateway: Gateway;

beforeAll(async () => {
  const http1 = createServer(async (request: IncomingMessage, response) => {
    let body = "";
    try {
      for await (const piece of request) body += piece;
    } catch {
      // The gateway has broken the request off.
      return;
    }
    const { url: path = "", trailers, headers } = request;
    seen.push({ path, server: "http1", announced: headers.trailer, body, trailers });
    response.statusCode =
      path.startsWith("/again") && seen.filter((each) => each.path === path).length === 1
        ? 503
        : 200;
    response.end("ok");
  });
  const http2 = createHttp2Server();
  http2.on("stream", (stream, headers) => {
    let trailers: IncomingHttpHeaders = {};
    let body = "";
    stream.on("trailers", (fields) => {
      trailers = fields;
    });
    stream.on("data", (piece) => {
      body += piece;
    });
    stream.on("end", () => {
      const path = String(headers[":path"]);
      const announced = headers.trailer === undefined ? undefined : String(headers.trailer);
      seen.push({ path, server: "http2", announced, body, trailers: { ...trailers } });
      stream.respond({ ":status": 200 });
      stream.end("ok");
    });
  });
  const old = { host: `127.0.0.1:${await listen(http1)}` };
  const host = `127.0.0.1:${await listen(http2)}`;
  const young = { host, policies: { http: { version: "HTTP2" } } };
  const route = (prefix: string, backends: readonly object[], policies: object = {}) => ({
    matches: [{ path: { pathPrefix: prefix } }],
    policies,
    backends,
  });
  const changes = { set: { "x-user": "anna" }, remove: ["x-secret"] };
  const routes = [
    route("/http2", [young]),
    route("/rules", [young], { requestHeaderModifier: changes }),
    route("/young", [{ host, policies: { ...young.policies, requestHeaderModifier: changes } }]),
    route("/read", [old], { authorization: { rules: ['string(request.body).startsWith("hel")'] } }),
    route("/again", [old], { retry: { attempts: 1, codes: [503] } }),
    route("/copied", [old], { requestMirror: { backend: old } }),
    route("/", [old]),
  ];
  gateway = await startGateway({ listeners: [{ routes }] });
}, 120_000);

/** Sends a body in chunks with trailers over HTTP/1.1. */
async function sendHttp1(path: string, head: string, trailers: string): Promise<void> {
  const client = new RawClient(gateway.port);
  client.send(
    `POST ${path} HTTP/1.1\r\nHost: shop.test\r\nTransfer-Encoding: chunked\r\n${head}\r\n5\r\nhello\r\n0\r\n${trailers}\r\n`,
  );
  await client.receives(/ok/);
}

/** The same over HTTP/2. */
async function sendHttp2(path: string, head: object, trailers: IncomingHttpHeaders): Promise<void> {
  const session = connect(gateway.url);
  atEnd(() => session.destroy());
  const stream = session.request(
    { ":method": "POST", ":path": path, ...head },
    { waitForTrailers: true },
  );
  stream.on("wantTrailers", () => stream.sendTrailers(trailers));
  stream.end("hello");
  let body = "";
  for await (const piece of stream) body += piece;
  expect(body).toBe("ok");
}

function at(path: string): readonly Seen[] {
  return seen.filter((each) => each.path === path);
}

describe("trailers of a request", () => {
  it.each(["", "/http2"])(
    "of HTTP/1.1 go on to a server%s, under the name that was announced",
    async (to) => {
      const path = `${to}/one`;
      await sendHttp1(path, "Trailer: X-Sum\r\n", "X-Sum: 42\r\nX-Two: 1\r\nX-Two: 2\r\n");
      expect(at(path)).toMatchObject([
        { announced: "x-sum", body: "hello", trailers: { "x-sum": "42", "x-two": "1, 2" } },
      ]);
    },
  );

  it.each(["", "/http2"])("of HTTP/2 go on to a server%s", async (to) => {
    const path = `${to}/two`;
    await sendHttp2(path, { trailer: "x-sum" }, { "x-sum": "42" });
    expect(at(path)).toMatchObject([
      { announced: "x-sum", body: "hello", trailers: { "x-sum": "42" } },
    ]);
  });

  it("are absent if none were sent", async () => {
    await sendHttp2("/http2/none", {}, {});
    await sendHttp1("/none", "", "");
    expect([...at("/http2/none"), ...at("/none")]).toMatchObject([
      { body: "hello", trailers: {} },
      { body: "hello", trailers: {} },
    ]);
  });

  it.each(["/rules/one", "/young/one"])(
    "can't pass for what the head says, for what a policy sets or removes, or for a credential: %s",
    async (path) => {
      const head = "X-Role: reader\r\nTrailer: x-user, x-sum, x-role\r\n";
      const refused = [
        ...["X-User: eve", "x_user: eve", "X-Secret: 1", "X-Role: admin", "x_role: admin"],
        ...["Authorization: Bearer x", "Cookie: a=b", "X-Forwarded-For: 1.2.3.4", "Host: x.test"],
      ];
      const trailers = [...refused, "X-Sum: 42"].map((line) => `${line}\r\n`).join("");
      await sendHttp1(path, head, trailers);
      const [found] = at(path);
      expect(found?.announced).toMatch(/x-sum$/);
      expect(Object.entries(found?.trailers ?? {})).toEqual([["x-sum", "42"]]);
    },
  );

  it("stay behind a body that an expression has read, one that is sent again, and a copy", async () => {
    await sendHttp1("/read", "", "X-Sum: 1\r\n");
    await sendHttp1("/again", "", "X-Sum: 2\r\n");
    await sendHttp1("/copied", "", "X-Sum: 3\r\n");
    await eventually(() => at("/copied").length === 2 || null, "the copy");
    const sums = [...at("/read"), ...at("/again"), ...at("/copied")];
    expect(sums.map(({ body, trailers }) => `${body} ${trailers["x-sum"]}`)).toEqual([
      ...["hello 1", "hello 2", "hello 2", "hello 3", "hello 3"],
    ]);
  });

  it.each([
    ["a length", "Content-Length: 5\r\n", 400],
    ["a lot", `X-Long: ${"x".repeat(20_000)}\r\n`, 431],
    ["no field", "no field\r\n", 400],
  ])("that no reader could agree on end the connection: %s", async (_what, trailers, status) => {
    const client = new RawClient(gateway.port);
    client.send(
      `POST /bad HTTP/1.1\r\nHost: shop.test\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n${trailers}\r\n`,
    );
    await client.closes();
    expect(client.received).toMatch(new RegExp(`^HTTP/1.1 ${status}|^$`));
    expect(at("/bad")).toEqual([]);
  });

  it("that say a length end the stream over HTTP/2", async () => {
    const client = new FrameClient(gateway.port);
    client.request(1, [...post.filter(([name]) => name !== ":path"), [":path", "/bad-length"]], 4);
    client.send(frameType.data, 0, 1, Buffer.from("hello"));
    client.send(frameType.headers, 5, 1, headerBlock([["content-length", "5"]]));
    const isOver = () => client.isClosed || client.last(frameType.reset, 1) !== undefined || null;
    await eventually(isOver, "the reset of the stream");
    await sendHttp1("/behind", "", "");
    expect(at("/bad-length")).toEqual([]);
  });
});
