import { describe, expect, it } from "vitest";
import { RawClient } from "../harness/raw-client.ts";
import { startUpstream } from "../harness/upstream.ts";
import { startHandwritten } from "./handwritten-gateway.ts";

/** A gateway whose upstream notes what reached it. */
async function startWatched(): Promise<{ port: number; reached: string[] }> {
  const reached: string[] = [];
  const upstream = await startUpstream((request, response) => {
    reached.push(`${request.method} ${request.url}`);
    request.resume();
    request.on("end", () => response.end("ok"));
  });
  const { port } = await startHandwritten(upstream);
  return { port, reached };
}

const malformed: readonly [string, string, RegExp][] = [
  ["two Host headers", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", / 400 /],
  ["two equal Host headers", "GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n", / 400 /],
  ["no Host header", "GET / HTTP/1.1\r\n\r\n", / 400 /],
  ["an empty Host header", "GET / HTTP/1.1\r\nHost:\r\n\r\n", / 400 /],
  ["a Host with a slash", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", / 400 /],
  ["a Host with a query", "GET / HTTP/1.1\r\nHost: a?b\r\n\r\n", / 400 /],
  ["a Host with a fragment", "GET / HTTP/1.1\r\nHost: a#b\r\n\r\n", / 400 /],
  ["a Host with a user", "GET / HTTP/1.1\r\nHost: user@a\r\n\r\n", / 400 /],
  ["a Host with a space", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", / 400 /],
  ["a Host list", "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", / 400 /],
  ["a Host with a backslash", "GET / HTTP/1.1\r\nHost: a\\b\r\n\r\n", / 400 /],
  ["a Host with a bad port", "GET / HTTP/1.1\r\nHost: a:8o\r\n\r\n", / 400 /],
  ["an absolute-form target", "GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n", / 400 /],
  ["a target without a slash", "GET a HTTP/1.1\r\nHost: a\r\n\r\n", / 400 /],
  ["an asterisk on GET", "GET * HTTP/1.1\r\nHost: a\r\n\r\n", / 400 /],
  ["CONNECT", "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n", / 400 /],
  ["a fragment in the target", "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n", / 400 /],
  ["a control byte in the target", "GET /a\x01 HTTP/1.1\r\nHost: a\r\n\r\n", / 400 /],
  ["a byte beyond ASCII in the target", "GET /\x9b31m HTTP/1.1\r\nHost: a\r\n\r\n", / 400 /],
  ["a NUL in a header", "GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n", / 400 /],
  ["a CR alone in a header", "GET / HTTP/1.1\r\nHost: a\r\nX: a\rY: b\r\n\r\n", / 400 /],
  ["a space before the colon", "GET / HTTP/1.1\r\nHost: a\r\nX : b\r\n\r\n", / 400 /],
  ["an obsolete line folding", "GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n", / 400 /],
  ["bare line feeds", "GET / HTTP/1.1\nHost: a\n\n", / 400 /],
  ["a path above the root", "GET /public/../../admin HTTP/1.1\r\nHost: a\r\n\r\n", / 400 /],
  ["an encoded one", "GET /%2E%2e/admin HTTP/1.1\r\nHost: a\r\n\r\n", / 400 /],
  ["an encoded slash", "GET /a%2Fb HTTP/1.1\r\nHost: a\r\n\r\n", / 400 /],
  ["a backslash in the path", "GET /a\\..\\b HTTP/1.1\r\nHost: a\r\n\r\n", / 400 /],
  ["a broken encoding", "GET /a%zz HTTP/1.1\r\nHost: a\r\n\r\n", / 400 /],
  ["a Host with an escape", "GET / HTTP/1.1\r\nHost: admin%2etest\r\n\r\n", / 400 /],
  ["a Host with an empty label", "GET / HTTP/1.1\r\nHost: a..test\r\n\r\n", / 400 /],
  ["a Host with an underscore", "GET / HTTP/1.1\r\nHost: a_b\r\n\r\n", / 400 /],
  [
    "a length and chunks",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    / 400 /,
  ],
  [
    "two lengths",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    / 400 /,
  ],
  ["a signed length", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\na", / 400 /],
  [
    "an unknown transfer coding",
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    / 400 /,
  ],
  [
    "chunked that is not the last coding",
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    / 400 /,
  ],
  ["a header of 100 KB", `GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(100_000)}\r\n\r\n`, / 431 /],
  [
    "an Authorization of 1 MB",
    `GET / HTTP/1.1\r\nHost: a\r\nAuthorization: ${"x".repeat(1_000_000)}\r\n\r\n`,
    / 431 /,
  ],
  ["101 headers", `GET / HTTP/1.1\r\nHost: a\r\n${"X: y\r\n".repeat(100)}\r\n`, / 431 /],
  ["100,000 headers", `GET / HTTP/1.1\r\nHost: a\r\n${"X: y\r\n".repeat(100_000)}\r\n`, / 431 /],
  ["no HTTP at all", "\x16\x03\x01\x02\x00\x01\x00\x01", / 400 /],
];

it("a malformed request is refused, its connection closed, and nothing of it goes upstream", async () => {
  const { port, reached } = await startWatched();
  for (const [name, bytes, status] of malformed) {
    const client = new RawClient(port);
    // A second request behind it: it must not be read either.
    client.send(`${bytes}GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n`);
    await client.closes();
    expect(client.received.split("\r\n")[0], name).toMatch(status);
    expect(client.received.match(/HTTP\/1\.1 /g), name).toHaveLength(1);
  }
  expect(reached).toEqual([]);
});

it("a bad chunk size ends both connections", async () => {
  const { port, reached } = await startWatched();
  for (const chunk of ["5x\r\nhello", "-1\r\n", "0x5\r\nhello", "5\nhello", " 5\r\nhello"]) {
    const client = new RawClient(port);
    client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    client.send(`${chunk}\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n`);
    await client.closes();
    expect(client.received, chunk).not.toMatch(/^HTTP\/1\.1 200/);
  }
  expect(reached).not.toContain("GET /smuggled");
});

describe("what is unusual but right", () => {
  it.each([
    ["an IPv6 literal with a port", "GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n"],
    [
      "a path with dots in names",
      "GET /a..b/.well-known/..x/%2e%2e%2e HTTP/1.1\r\nHost: a\r\n\r\n",
    ],
    ["dots in the query", "GET /a?b=/../c HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["an empty line before the request", "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"],
  ])("%s is served", async (_name, bytes) => {
    const { port } = await startWatched();
    const client = new RawClient(port);
    client.send(bytes);
    await client.receives(/^HTTP\/1\.1 200 /);
  });

  it("OPTIONS of the server itself is answered by the gateway", async () => {
    const { port, reached } = await startWatched();
    const client = new RawClient(port);
    client.send("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n");
    await client.receives(/^HTTP\/1\.1 204 /);
    expect(reached).toEqual([]);
  });

  it("requests sent without waiting are answered in their order", async () => {
    const { port, reached } = await startWatched();
    const client = new RawClient(port);
    client.send(
      "POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nabGET /2 HTTP/1.1\r\nHost: a\r\n\r\n" +
        "GET /missing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    );
    await client.closes();
    expect(client.received.match(/HTTP\/1\.1 \d+/g)).toEqual([
      "HTTP/1.1 200",
      "HTTP/1.1 200",
      "HTTP/1.1 404",
    ]);
    expect(reached).toHaveLength(2);
  });
});

it.each([
  ["sent what is no request", "GET / HTTP/1.1\r\nHost: a\r\nX : b\r\n\r\n", / 400 /],
  ["was refused a tunnel", "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n", / 400 /],
  ["wanted one response", "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", / 200 /],
])("a client that %s and stays is let go", async (_, request, response) => {
  const { port } = await startWatched();
  const client = new RawClient(port, { allowHalfOpen: true });
  client.send(request);
  await client.receives(response);
  await client.ends();
  await client.isLetGo();
});

it.each([
  ["HTTP/1.0", "close, keep-alive"],
  ["HTTP/1.0", "keep-alive, close"],
  ["HTTP/1.0", "keep-alive\r\nConnection: close"],
  ["HTTP/1.1", "keep-alive, CLOSE"],
  ["HTTP/1.1", "close, keep-alive"],
])("a client of %s that says %j gets one response: close wins", async (version, options) => {
  const { port } = await startWatched();
  const client = new RawClient(port);
  client.send(`GET / ${version}\r\nHost: a\r\nConnection: ${options}\r\n\r\n`);
  await client.closes();
  expect(client.received.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200"]);
});
