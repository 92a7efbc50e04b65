import { createServer } from "node:http";
import { connect } from "node:http2";
import type { Socket } from "node:net";
import { beforeAll, expect, it } from "vitest";
import { type EnvoyServices, startEnvoyServices } from "../harness/envoy-services.ts";
import { eventually } from "../harness/eventually.ts";
import type { Gateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { patient } from "../harness/patient-callout.ts";
import { RawClient } from "../harness/raw-client.ts";
import { settled } from "../harness/settled.ts";
import { startRoutes } from "../policies/routes.ts";

let services: EnvoyServices;
let gateway: Gateway;
let upstream: string;
/** `METHOD TARGET` of the requests that got through, as the upstream read them. */
const through: string[] = [];
/** Bytes on connections that changed to another protocol. */
let tunnelled = "";

beforeAll(async () => {
  services = await startEnvoyServices();
  const server = createServer((request, response) => {
    through.push(`${request.method} ${request.url}`);
    request.on("error", () => {});
    request.resume().on("end", () => response.end("shop"));
  });
  server.on("upgrade", (request, socket: Socket, head) => {
    through.push(`${request.method} ${request.url}`);
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      tunnelled += String(bytes);
    });
    tunnelled += String(head);
    if (request.url?.endsWith("/no") === true) {
      socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nno");
      return;
    }
    socket.write(
      "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: own/1\r\n\r\n",
    );
  });
  upstream = `http://127.0.0.1:${await listen(server)}`;
  const asked = { host: new URL(services.url).host, policies: patient };
  const entries = [
    { key: "asked", value: 'request.method + " " + request.pathAndQuery' },
    // Each request counts by itself.
    { key: "port", value: "request.headers['x-n']" },
  ];
  const policies = {
    extAuthz: {
      ...asked,
      includeRequestBody: { maxRequestBytes: 1000, allowPartialMessage: true },
    },
    remoteRateLimit: { ...asked, domain: "shop", descriptors: [{ entries }] },
    extProc: asked,
  };
  gateway = await startRoutes({ a: { policies } }, { url: upstream });
});

/** `METHOD TARGET` of what each server was asked about. */
function asked(): Readonly<Record<"Check" | "ShouldRateLimit" | "Process", readonly string[]>> {
  const messages = services.seen();
  const of = (call: string) => messages.filter((each) => each.call === call);
  const bytes = (raw: string) => Buffer.from(raw, "base64").toString("latin1");
  return {
    Check: of("Check").map(({ message }) => {
      const { method, path } = message.attributes.request.http;
      return `${method} ${path}`;
    }),
    ShouldRateLimit: of("ShouldRateLimit").flatMap(({ message }) =>
      message.descriptors.map(
        ({ entries }: { entries: readonly { value: string }[] }) => entries[0]?.value,
      ),
    ),
    Process: of("Process").flatMap(({ message }) => {
      const fields: readonly { key: string; raw_value: string }[] | undefined =
        message.request_headers?.headers.headers;
      if (fields === undefined) return [];
      const field = (name: string) =>
        bytes(fields.find(({ key }) => key === name)?.raw_value ?? "");
      return [`${field(":method")} ${field(":path")}`];
    }),
  };
}

/** Those of a list that are not in the other one as often. */
function beyond(list: readonly string[], others: readonly string[]): readonly string[] {
  const left = [...others];
  return list.filter((each) => {
    const at = left.indexOf(each);
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
}

let number = 0;
const head = (line: string, ...fields: readonly string[]) => {
  number += 1;
  return `${[`${line} HTTP/1.1`, "Host: a.test", `X-N: ${number}`, ...fields].join("\r\n")}\r\n\r\n`;
};
const upgrade = ["Connection: Upgrade", "Upgrade: own/1"];
const webSocket = [
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
];
const smuggled = (where = "smuggled") => head(`GET /a/${where}`);

/** Requests of clients, by their intent. */
const tries: Readonly<Record<string, () => string>> = {
  ...Object.fromEntries(
    [
      ...["/a/x/../y", "/a/%2e%2e/a/z", "/a/./b", "//a//b", "/a/b;c=d", "/a/..;/b", "/a/%2fb"],
      ...["/a\\b", "/a/%5cb", "/a/b%00", "/a/b?c=/../d", "/a/%61", "/A/b", "/a/b#c", "/a%3fb"],
      ...["http://a.test/a/absolute", "http://b.test/a/other", "http:///a/none", "*", "a/b", ""],
    ].map((target) => [`the target ${target}`, () => head(`GET ${target}`)]),
  ),
  "requests one behind the other": () =>
    ["GET", "POST", "DELETE", "OPTIONS", "HEAD", "TRACE", "PATCH"]
      .map((method) => head(`${method} /a/piped`))
      .join(""),
  "another method in a header": () => head("GET /a/m", "X-HTTP-Method-Override: DELETE"),
  "another target in headers": () =>
    head("GET /a/h", "X-Original-URL: /a/admin", "X-Rewrite-URL: /a/admin", ":path: /a/admin"),
  "a second request in a body": () =>
    `${head("POST /a/body", `Content-Length: ${smuggled().length}`)}${smuggled()}`,
  "a body of two lengths": () =>
    `${head("POST /a/two", "Content-Length: 4", "Content-Length: 0")}${smuggled()}`,
  "a body with a length and in chunks": () =>
    `${head("POST /a/both", "Content-Length: 4", "Transfer-Encoding: chunked")}0\r\n\r\n${smuggled()}`,
  "trailers that look like heads": () =>
    `${head("POST /a/trailers", "Transfer-Encoding: chunked")}1\r\nx\r\n0\r\n:path: /a/admin\r\nHost: b.test\r\nX-Http-Method: DELETE\r\n\r\n`,
  "a body that waits to be asked for": () =>
    `${head("POST /a/continue", "Content-Length: 5", "Expect: 100-continue")}hello`,
  "a request instead of an unrequested body": () =>
    `${head("POST /a/expects", `Content-Length: ${smuggled().length}`, "Expect: 100-continue")}${smuggled()}`,
  "an aborted body": () => `${head("POST /a/broken", "Content-Length: 100")}hello`,
  "aborted chunks": () => `${head("POST /a/chunks", "Transfer-Encoding: chunked")}5\r\nhello\r\nff`,
  "another protocol": () => head("GET /a/tunnel", ...upgrade),
  "a WebSocket": () => head("GET /a/socket", ...webSocket),
  "another protocol, and a request before it is agreed on": () =>
    `${head("GET /a/early", ...upgrade)}${smuggled()}`,
  "another protocol that is refused, and a request behind it": () =>
    `${head("GET /a/no", ...upgrade)}${smuggled("behind-no")}`,
  "HTTP/2 by upgrade": () =>
    `${head("GET /a/h2c", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__")}${smuggled()}`,
  "a tunnel": () => head("CONNECT a.test:80"),
  "HTTP/1.0": () => "GET /a/old HTTP/1.0\r\nHost: a.test\r\nX-N: old\r\n\r\n",
  "no Host": () => "GET /a/nohost HTTP/1.1\r\nX-N: nohost\r\n\r\n",
  "lines that are folded": () => head("GET /a/folded", "X-A: 1\r\n /a/admin"),
  "headers that the servers set, in other spellings": () =>
    head("GET /a/spelt", "X_N: 1", "x-n : 2", "Transfer_Encoding: chunked"),
};

it.each(["stays", "ends its side", "aborts"] as const)(
  "nothing that no server was asked about gets past them, from a client that %s",
  async (how) => {
    const before = through.length;
    await Promise.all(
      Object.values(tries).map(async (attempt) => {
        const bytes = attempt();
        const client = new RawClient(gateway.port, { allowHalfOpen: true });
        client.send(bytes);
        if (how === "ends its side") client.socket.end();
        if (how !== "aborts") return;
        await eventually(() => client.socket.bytesWritten >= bytes.length || null, "what is sent");
        client.socket.resetAndDestroy();
      }),
    );
    if (how === "stays") {
      const piped = ["GET", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH"];
      const served = [
        ...piped.map((method) => `${method} /a/piped`),
        "GET /a/tunnel",
        "GET /a/old",
      ];
      const areServed = () => served.every((each) => through.includes(each, before)) || null;
      await eventually(areServed, () => `${served} in ${through.slice(before)}`);
    }
    await settled(() => through.length + services.seen().length);
    expectAllAsked();
    // Bytes after a change of protocols belong to the backend once it has accepted, and to nobody before.
    expect(tunnelled).not.toContain("/a/behind-no");
  },
);

/** Each request that got through, each server was asked about, as often. */
function expectAllAsked(): void {
  const all = asked();
  for (const server of ["Check", "ShouldRateLimit", "Process"] as const)
    expect({ server, unasked: beyond(through, all[server]) }).toEqual({ server, unasked: [] });
}

it.each(["extAuthz", "remoteRateLimit", "extProc"])(
  "nothing gets past one that is away: %s",
  async (policy) => {
    const descriptors = [{ entries: [{ key: "a", value: '"a"' }] }];
    const more = policy === "remoteRateLimit" ? { domain: "shop", descriptors } : {};
    const closed = { [policy]: { host: "127.0.0.1:1", ...more } };
    const own = await startRoutes({ a: { policies: closed } }, { url: upstream });
    const [before, inTunnels] = [through.length, tunnelled];
    const clients = Object.values(tries).map((attempt) => {
      const client = new RawClient(own.port, { allowHalfOpen: true });
      client.send(attempt());
      return client;
    });
    await settled(() => clients.reduce((sum, { received }) => sum + received.length, 0));
    expect(through.slice(before)).toEqual([]);
    expect(tunnelled).toBe(inTunnels);
  },
);

it("nothing gets past them over HTTP/2 either", async () => {
  const client = connect(gateway.url);
  client.on("error", () => {});
  const targets = [
    "/a/x/../y",
    "/a/%2e%2e/a/z",
    "//a//b",
    "/a\\b",
    "/a/..;/b",
    "*",
    "/a/b?c",
    "/a/plain",
  ];
  const statuses = targets.map(async (path) => {
    const stream = client.request({ ":path": path, ":method": "POST", "x-n": path });
    stream.on("error", () => {});
    stream.end("hello");
    stream.resume();
    await new Promise((resolve) => stream.on("close", resolve));
  });
  await Promise.all(statuses);
  client.destroy();
  await eventually(() => through.includes("POST /a/plain") || null, "the plain request");
  await settled(() => through.length);
  expectAllAsked();
});
