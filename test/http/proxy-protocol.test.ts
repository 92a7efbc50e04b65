import { execFile } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { connect as connectTls } from "node:tls";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { makeCertificate } from "../harness/certificate.ts";
import { eventually } from "../harness/eventually.ts";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { startScripted } from "../harness/scripted.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { TestProcess } from "../harness/test-process.ts";
import { program } from "../harness/tool.ts";

/** Says whom the gateway takes the client for. */
const whoIsThere = {
  routes: [
    {
      policies: {
        directResponse: {
          status: 200,
          bodyExpression: 'source.address + " " + string(source.port)',
        },
      },
    },
  ],
};

let strict: Gateway;
let [http, https, tcp, direct, optional] = [0, 0, 0, 0, 0];

beforeAll(async () => {
  const folder = temporaryFolder();
  makeCertificate(folder, "server", { names: "DNS:localhost" });
  [http, https, tcp, direct, optional] = (await Promise.all(
    [0, 0, 0, 0, 0].map(() => freePort()),
  )) as [number, number, number, number, number];
  const upstream = await startScripted((response) => response.end("passed on"));
  const rules = ['source.address == "192.0.2.7"'];
  [strict] = await Promise.all([
    startGateway({
      folder,
      config: {
        config: { logging: { level: "debug" } },
        frontendPolicies: { proxyProtocol: { version: "all", trustedSources: ["127.0.0.0/8"] } },
        binds: [
          { port: http, listeners: [whoIsThere] },
          {
            port: https,
            listeners: [
              { protocol: "HTTPS", tls: { cert: "server.pem", key: "server.key" }, ...whoIsThere },
            ],
          },
          {
            port: tcp,
            listeners: [
              {
                protocol: "TCP",
                tcpRoutes: [
                  { policies: { authorization: { rules } }, backends: [{ host: upstream.host }] },
                ],
              },
            ],
          },
          { port: direct, tunnelProtocol: "direct", listeners: [whoIsThere] },
        ],
      },
    }),
    startGateway({
      config: {
        frontendPolicies: { proxy: { mode: "optional", trustedSources: ["127.0.0.2"] } },
        binds: [{ port: optional, tunnelProtocol: "proxy", listeners: [whoIsThere] }],
      },
    }),
  ]);
});

/** A header of version 2 for a client of IPv4, with further fields as proxies add them. */
function header2(client: readonly number[], port: number, command = 0x21): Buffer {
  const extra = Buffer.from([0x04, 0, 1, 0]);
  const rest = Buffer.from([...client, 127, 0, 0, 1, port >> 8, port & 255, 0, 80, ...extra]);
  return Buffer.concat([
    Buffer.from("\r\n\r\n\0\r\nQUIT\n", "latin1"),
    Buffer.from([command, 0x11, 0, rest.length]),
    rest,
  ]);
}

/** CRC-32C of the bytes of `checked2`, by another implementation. */
const CHECKSUM = 0xc5049705;

/** The header of a client with a checksum as an extension, whose bytes can be changed. */
function checked2(
  change: (header: Buffer) => void = () => {},
  { length = 4, isTrue = true } = {},
): Buffer {
  const extension = Buffer.alloc(3 + length);
  extension[0] = 0x03;
  extension.writeUInt16BE(length, 1);
  const header = Buffer.concat([header2([192, 0, 2, 7], 4711), extension]);
  header.writeUInt16BE(header.length - 16, 14);
  change(header);
  if (isTrue) header.writeUInt32BE(CHECKSUM, header.length - 4);
  return header;
}

const header6 = Buffer.concat([
  Buffer.from("\r\n\r\n\0\r\nQUIT\n", "latin1"),
  Buffer.from([0x21, 0x21, 0, 36]),
  Buffer.from("20010db80000000000000000000000ff", "hex"),
  Buffer.from("00000000000000000000000000000001", "hex"),
  Buffer.from([0x04, 0xd2, 0, 80]),
]);

const request = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/** Returns the body of the response to these bytes; "" if the connection is closed without one. */
async function ask(
  port: number,
  pieces: readonly (string | Buffer)[],
  localAddress = "127.0.0.1",
): Promise<string> {
  const socket = connect({ port, host: "127.0.0.1", localAddress, noDelay: true });
  socket.on("error", () => {});
  const received = text(socket).catch(() => "");
  await once(socket, "connect");
  for (const piece of pieces) {
    if (socket.destroyed) break;
    await new Promise((sent) => socket.write(piece, "latin1", sent));
  }
  return bodyOf(await received);
}

function bodyOf(response: string): string {
  return response
    .split("\r\n\r\n")
    .slice(1)
    .join("\r\n\r\n")
    .replace(/^[0-9a-f]+\r\n(.*)\r\n0\r\n\r\n$/s, "$1");
}

const text1 = "PROXY TCP4 192.0.2.7 127.0.0.1 4711 80\r\n";

describe("a port that proxies connect to", () => {
  it.each([
    ["version 1", [text1 + request], "192.0.2.7 4711"],
    [
      "version 1 over IPv6",
      [`PROXY TCP6 2001:DB8:0::ff ::1 4711 80\r\n${request}`],
      "2001:db8::ff 4711",
    ],
    ["version 2", [header2([192, 0, 2, 7], 4711), request], "192.0.2.7 4711"],
    ["version 2 with a checksum", [checked2(), request], "192.0.2.7 4711"],
    ["version 2 over IPv6", [header6, request], "2001:db8::ff 1234"],
    [
      "an IPv4 address in IPv6 form",
      [`PROXY TCP6 ::ffff:192.0.2.7 ::1 4711 80\r\n${request}`],
      "192.0.2.7 4711",
    ],
  ])("takes the client's address from a header of %s", async (_, pieces, client) => {
    expect(await ask(http, pieces)).toBe(client);
  });

  it.each([
    ["1", Buffer.from(text1 + request)],
    ["2", Buffer.concat([header2([192, 0, 2, 7], 4711), Buffer.from(request)])],
  ])("reads a header of version %s that comes byte by byte", async (_, bytes) => {
    const pieces = [...bytes].map((_, at) => bytes.subarray(at, at + 1));
    expect(await ask(http, pieces)).toBe("192.0.2.7 4711");
  });

  it("keeps the proxy's own address where that speaks for itself", async () => {
    expect(await ask(http, [header2([192, 0, 2, 7], 4711, 0x20), request])).toMatch(
      /^127\.0\.0\.1 /,
    );
    expect(await ask(http, [`PROXY UNKNOWN\r\n${request}`])).toMatch(/^127\.0\.0\.1 /);
  });

  it.each([
    ["no header", request],
    ["an invalid address", `PROXY TCP4 192.0.2.777 127.0.0.1 4711 80\r\n${request}`],
    ["an address of the other family", `PROXY TCP4 2001:db8::1 ::1 4711 80\r\n${request}`],
    ["an address of one machine", `PROXY TCP6 fe80::1%a ::1 4711 80\r\n${request}`],
    ["an invalid port", `PROXY TCP4 192.0.2.7 127.0.0.1 70000 80\r\n${request}`],
    ["a line without an end", `PROXY TCP4 ${"1".repeat(200)}`],
    ["an unknown command", Buffer.concat([header2([192, 0, 2, 7], 1, 0x22), Buffer.from(request)])],
    ["wrong checksum", checked2((header) => header.writeUInt8(8, 19))],
    ["a checksum of zero", checked2(undefined, { isTrue: false })],
    ["a checksum of two bytes", checked2(undefined, { length: 2, isTrue: false })],
    [
      "extensions of an invalid length",
      checked2((header) => header.writeUInt8(0xff, header.length - 6)),
    ],
    ["a header that never ends", Buffer.concat([header6.subarray(0, 14), Buffer.from([255, 255])])],
  ])("closes a connection with %s", async (_, bytes) => {
    expect(await ask(http, [bytes])).toBe("");
  });

  it("tells a log that wants to know why", async () => {
    await ask(http, [request]);
    await strict.seen(/the connection of \S+ is closed: no header \(PROXY protocol\)/);
  });

  it("takes headers from a real client", async () => {
    const { stdout } = await promisify(execFile)(program("curl"), [
      ...["-sS", "--haproxy-protocol", "--interface", "127.0.0.3"],
      `http://127.0.0.1:${http}/`,
    ]);
    expect(stdout).toMatch(/^127\.0\.0\.3 \d+$/);
  });

  it("takes the header before TLS, and the address is the client's behind it, in every HTTP", async () => {
    const socket = connect({ port: https, host: "127.0.0.1" });
    socket.write(text1);
    const secure = connectTls({ socket, rejectUnauthorized: false, ALPNProtocols: ["http/1.1"] });
    const received = text(secure);
    secure.write(request);
    expect(bodyOf(await received)).toBe("192.0.2.7 4711");
    const { stdout } = await promisify(execFile)(program("curl"), [
      ...[
        "-sSk",
        "--http2",
        "--haproxy-protocol",
        "--interface",
        "127.0.0.3",
        "-w",
        " %{http_version}",
      ],
      `https://127.0.0.1:${https}/`,
    ]);
    expect(stdout).toMatch(/^127\.0\.0\.3 \d+ 2$/);
  });

  it("lets rules of connections see the client", async () => {
    expect(await ask(tcp, [text1, request])).toBe("passed on");
    expect(await ask(tcp, [text1.replace(".7", ".8"), request])).toBe("");
  });

  it("is not another address", async () => {
    expect(await ask(direct, [request])).toMatch(/^127\.0\.0\.1 /);
  });
});

it("a Gateway takes headers if a policy allows it", async () => {
  const port = await freePort();
  await startGateway({
    config: `
{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: gw}, spec: {gatewayClassName: gwc, listeners: [{name: a, port: ${port}, protocol: HTTP}]}}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: r}, spec: {parentRefs: [{name: gw}], rules: [{}]}}
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayPolicy
metadata: {name: proxies}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: gw}]
  frontend: {proxyProtocol: {version: V1, trustedSources: [127.0.0.1]}}
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayPolicy
metadata: {name: clients}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}]
  traffic:
    authorization: {policy: {matchExpressions: ['source.address == "192.0.2.7"']}}
    directResponse: {status: 200, body: welcome}`,
  });
  expect(await ask(port, [text1, request])).toBe("welcome");
  expect(await ask(port, [text1.replace(".7", ".8"), request])).not.toContain("welcome");
  expect(await ask(port, [header2([192, 0, 2, 7], 4711), request])).toBe("");
  expect(await ask(port, [request])).toBe("");
});

describe("HAProxy", () => {
  it.each([
    ["1", "send-proxy"],
    ["2", "send-proxy-v2"],
  ])("says for whom it connects, by version %s", async (_, option) => {
    const [plain, secure] = [await freePort(), await freePort()];
    const folder = temporaryFolder();
    const proxied = (port: number, to: number) =>
      `listen p${port}\n  bind 127.0.0.1:${port}\n  server s 127.0.0.1:${to} ${option}\n`;
    writeFileSync(
      join(folder, "haproxy.cfg"),
      `defaults\n  mode tcp\n  timeout connect 30s\n  timeout client 30s\n  timeout server 30s\n${proxied(plain, http)}${proxied(secure, tcp)}`,
    );
    new TestProcess(program("haproxy"), ["-db", "-f", join(folder, "haproxy.cfg")]);
    const body = await eventually(
      () =>
        ask(plain, [request], "127.0.0.5").then(
          (said) => said || null,
          () => null,
        ),
      "a response through HAProxy",
    );
    expect(body).toMatch(/^127\.0\.0\.5 \d+$/);
    // Addresses that the rules of connections do not allow are refused behind any proxy.
    expect(await ask(secure, [request], "127.0.0.5")).toBe("");
  });
});

describe("where headers are optional", () => {
  const header = header2([192, 0, 2, 7], 4711);

  it("a connection without one is its own, and one with it the client's", async () => {
    expect(await ask(optional, [request], "127.0.0.2")).toMatch(/^127\.0\.0\.2 /);
    expect(await ask(optional, [header, request], "127.0.0.2")).toBe("192.0.2.7 4711");
  });

  it("a header of the other version closes the connection", async () => {
    expect(await ask(optional, [text1, request], "127.0.0.2")).toBe("");
  });

  it("who is no proxy can't say to be somebody else", async () => {
    for (const bytes of [header, text1]) {
      expect(await ask(optional, [bytes, request])).not.toContain("192.0.2.7");
    }
    expect(await ask(optional, [request])).toMatch(/^127\.0\.0\.1 /);
  });
});
