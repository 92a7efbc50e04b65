import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { connect, createServer, type SecureVersion, type TLSSocket } from "node:tls";
import { pathToFileURL } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { makeCertificate } from "../harness/certificate.ts";
import { eventually } from "../harness/eventually.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { RawClient } from "../harness/raw-client.ts";
import { startTcpServer } from "../harness/tcp-server.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const names = pathToFileURL(join(import.meta.dirname, "../harness/fake-names.mjs"));

/** A TLS server with a certificate for its names, which says its name and what it hears. */
async function startSecure(
  folder: string,
  name: string,
  hosts: readonly string[],
  host = "127.0.0.1",
) {
  makeCertificate(folder, name, { names: hosts.map((each) => `DNS:${each}`).join() });
  const file = (extension: string) => readFileSync(join(folder, `${name}.${extension}`));
  const server = createServer(
    { cert: file("pem"), key: file("key"), ALPNProtocols: ["h2", "own"] },
    (socket) => {
      socket.write(`${name} for ${socket.servername}\n`);
      socket.on("data", (chunk) => socket.write(chunk));
      socket.on("error", () => {});
    },
  );
  onTestFinished(() => {
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return { port: (server.address() as AddressInfo).port, ca: file("pem") };
}

interface Talk {
  readonly heard: string;
  readonly version: string | null;
  readonly alpn: string | false | null;
}

/** Connects as a client that trusts one certificate, says something, and hears it again; or the error. */
function talk(
  port: number,
  servername: string | undefined,
  ca: Buffer,
  options: { readonly maxVersion?: SecureVersion; readonly ALPNProtocols?: string[] } = {},
): Promise<Talk | string> {
  return new Promise((resolve) => {
    const socket: TLSSocket = connect({
      port,
      host: "127.0.0.1",
      ca,
      ...(servername === undefined ? { checkServerIdentity: () => undefined } : { servername }),
      ...options,
    });
    onTestFinished(() => {
      socket.destroy();
    });
    let heard = "";
    socket.on("secureConnect", () => socket.write("hello\n"));
    socket.on("data", (chunk) => {
      heard += chunk;
      if (!heard.endsWith("hello\n")) return;
      resolve({
        heard,
        version: socket.getProtocol(),
        alpn: socket.alpnProtocol,
      });
      socket.end();
    });
    socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    socket.on("close", () => resolve("closed"));
  });
}

const to = (port: number) => ({ host: `127.0.0.1:${port}` });

it("a connection goes to the backend of its server name, whose certificate the client sees", async () => {
  const folder = temporaryFolder();
  const exact = await startSecure(folder, "exact", ["a.example.com"]);
  const wild = await startSecure(folder, "wild", ["*.example.com", "x.y.example.com"]);
  const deep = await startSecure(folder, "deep", ["c.deep.example.com"]);
  const other = await startSecure(folder, "other", ["elsewhere.test"]);
  const listener = (hostname: string, tcpRoutes: object[]) => ({
    ...(hostname === "*" ? {} : { hostname }),
    name: hostname === "*" ? "rest" : "examples",
    protocol: "TLS",
    tcpRoutes,
  });
  const gateway = await startGateway({
    listeners: [
      listener("*", [{ name: "other", hostnames: ["*.test"], backends: [to(other.port)] }]),
      listener("*.example.com", [
        { name: "wild", backends: [to(wild.port)] },
        { name: "deep", hostnames: ["*.deep.example.com"], backends: [to(deep.port)] },
        { name: "exact", hostnames: ["a.example.com"], backends: [to(exact.port)] },
      ]),
    ],
  });
  const heard = async (name: string, ca: Buffer) => {
    const said = await talk(gateway.port, name, ca);
    return typeof said === "string" ? said : said.heard;
  };
  expect(await heard("a.example.com", exact.ca)).toBe("exact for a.example.com\nhello\n");
  expect(await heard("A.Example.COM", exact.ca)).toMatch(/^exact for/);
  expect(await heard("b.example.com", wild.ca)).toMatch(/^wild for b/);
  expect(await heard("x.y.example.com", wild.ca)).toMatch(/^wild for x/);
  expect(await heard("c.deep.example.com", deep.ca)).toMatch(/^deep for c/);
  expect(await heard("elsewhere.test", other.ca)).toMatch(/^other for/);
  // Nobody answers for these, and the connection is broken off.
  const unknown = "ECONNRESET";
  expect(await heard("example.com", wild.ca)).toBe(unknown);
  expect(await heard("nobody.org", wild.ca)).toBe(unknown);
  expect(await talk(gateway.port, undefined, wild.ca)).toBe(unknown);
  await gateway.seen(
    /listener=examples route=exact endpoint=127\.0\.0\.1:\d+ .*tls\.sni=a\.example\.com protocol=tcp/,
  );
  await gateway.seen(/src\.addr=\S+ tls\.sni=nobody\.org .*reason=NotFound/);
});

it("version and ALPN are between client and backend", async () => {
  const folder = temporaryFolder();
  const server = await startSecure(folder, "server", ["a.test"]);
  const gateway = await startGateway({
    listeners: [{ protocol: "TLS", tcpRoutes: [{ backends: [to(server.port)] }] }],
  });
  const old = await talk(gateway.port, "a.test", server.ca, { maxVersion: "TLSv1.2" });
  expect(old).toMatchObject({ version: "TLSv1.2", alpn: false });
  const own = await talk(gateway.port, "a.test", server.ca, { ALPNProtocols: ["own"] });
  expect(own).toMatchObject({ version: "TLSv1.3", alpn: "own" });
});

it("where TLS ends here, clients may choose the protocols that are named", async () => {
  const folder = temporaryFolder();
  makeCertificate(folder, "edge", { names: "DNS:db.test" });
  const heard = await startTcpServer((socket) => {
    socket.on("data", (chunk) => socket.write(chunk));
  });
  const gateway = await startGateway({
    folder,
    listeners: [
      {
        protocol: "TLS",
        tls: { cert: "edge.pem", key: "edge.key" },
        tcpRoutes: [{ backends: [to(heard.port)] }],
      },
    ],
    file: { frontendPolicies: { tls: { alpn: ["postgresql", "mqtt"] } } },
  });
  const ca = readFileSync(join(folder, "edge.pem"));
  const choose = (ALPNProtocols: string[]) => talk(gateway.port, "db.test", ca, { ALPNProtocols });
  expect(await choose(["postgresql"])).toMatchObject({ alpn: "postgresql", heard: "hello\n" });
  expect(await choose(["own", "mqtt"])).toMatchObject({ alpn: "mqtt" });
  expect(await choose([])).toMatchObject({ alpn: false });
  expect(await choose(["own"])).toBe("ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL");
});

it("openssl's client and server understand each other through it", async () => {
  const folder = temporaryFolder();
  makeCertificate(folder, "server", { names: "DNS:openssl.test" });
  const gateway = await startGateway({
    listeners: [
      {
        protocol: "TLS",
        tcpRoutes: [{ hostnames: ["openssl.test"], backends: [{ host: "${SERVER}" }] }],
      },
    ],
    env: { SERVER: await opensslServer(folder) },
  });
  const ask = (name: string) =>
    openssl([
      ...["s_client", "-connect", `127.0.0.1:${gateway.port}`, "-servername", name],
      ...["-CAfile", join(folder, "server.pem"), "-verify_return_error", "-ign_eof"],
    ]);
  const known = ask("openssl.test");
  known.stdin.write("GET / HTTP/1.0\r\n\r\n");
  await known.says(/Verify return code: 0 \(ok\)/);
  await known.says(/HTTP\/1\.0 200 ok/);
  const unknown = ask("other.test");
  await unknown.says(/reset by peer|errno=104/);
});

/** A child process of openssl, gone when the test has finished. */
function openssl(parameters: readonly string[]) {
  const child = spawn("openssl", parameters, { stdio: ["pipe", "pipe", "pipe"] });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      output += chunk;
    });
  }
  child.stdin.on("error", () => {});
  const says = (pattern: RegExp) =>
    eventually(() => pattern.exec(output), `${pattern} in ${output}`);
  return { stdin: child.stdin, says };
}

async function opensslServer(folder: string): Promise<string> {
  const key = ["-cert", join(folder, "server.pem"), "-key", join(folder, "server.key")];
  const server = openssl(["s_server", "-accept", "127.0.0.1:0", ...key, "-www"]);
  const [, address = ""] = await server.says(/ACCEPT (\S+)/);
  return address;
}

/** The message of one record in several records of some bytes. */
function inRecords(record: Buffer, size: number): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 5; at < record.length; at += size) {
    const piece = record.subarray(at, at + size);
    const header = Buffer.from([22, 3, 1, 0, 0]);
    header.writeUInt16BE(piece.length, 3);
    pieces.push(header, piece);
  }
  return Buffer.concat(pieces);
}

it("a ClientHello may come in any number of segments and records", async () => {
  const folder = temporaryFolder();
  const server = await startSecure(folder, "server", ["a.test"]);
  const gateway = await startGateway({
    listeners: [
      { protocol: "TLS", hostname: "a.test", tcpRoutes: [{ backends: [to(server.port)] }] },
    ],
  });
  // Between the client and the gateway, who cuts the first flight to pieces.
  for (const [segment, record] of [
    [1, 16_384],
    [1, 1],
    [7, 100],
    [100_000, 1],
    [3, 5],
  ] as const) {
    const cutter = await startTcpServer((socket) => {
      const onward = new RawClient(gateway.port, { allowHalfOpen: true }).socket;
      onward.setNoDelay(true);
      socket.once("data", async (hello) => {
        socket.pause();
        const bytes = inRecords(hello, record);
        for (let at = 0; at < bytes.length; at += segment) {
          onward.write(bytes.subarray(at, at + segment));
          // A segment for each write.
          if (at % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
        }
        socket.pipe(onward);
      });
      onward.pipe(socket);
    });
    const said = await talk(cutter.port, "a.test", server.ca);
    expect(said, `${segment} ${record}`).toMatchObject({ heard: "server for a.test\nhello\n" });
  }
});

const u16 = (value: number) => Buffer.from([value >> 8, value & 255]);
const vector = (bytes: Buffer) => Buffer.concat([u16(bytes.length), bytes]);
const record = (bytes: Buffer, type = 22) =>
  Buffer.concat([Buffer.from([type, 3, 1]), vector(bytes)]);

/** A ClientHello with these extensions. */
function hello(extensions: Buffer, type = 1, length?: number): Buffer {
  const body = Buffer.concat([
    ...[u16(0x0303), Buffer.alloc(32), Buffer.from([0]), vector(u16(0x1301)), Buffer.from([1, 0])],
    vector(extensions),
  ]);
  const size = length ?? body.length;
  return Buffer.concat([Buffer.from([type, size >> 16, (size >> 8) & 255, size & 255]), body]);
}

const extension = (type: number, content: Buffer) => Buffer.concat([u16(type), vector(content)]);
const named = (name: string, type = 0) =>
  extension(0, vector(Buffer.concat([Buffer.from([type]), vector(Buffer.from(name, "latin1"))])));

const junk: readonly (readonly [string, Buffer])[] = [
  ["HTTP", Buffer.from("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")],
  ["SSL 2", Buffer.from([0x80, 0x2e, 1, 0, 2, 0, 0x15, 0, 0, 0, 0x10])],
  ["zeros", Buffer.alloc(1000)],
  ["an alert", record(Buffer.from([2, 40]), 21)],
  ["data", record(Buffer.from("data"), 23)],
  ["an empty record", record(Buffer.alloc(0))],
  ["a record of more than 2^14 bytes", Buffer.concat([Buffer.from([22, 3, 1]), u16(16_385)])],
  ["another version", Buffer.from([22, 4, 1, 0, 4, 1, 0, 0, 0])],
  ["a ServerHello", record(hello(named("a.test"), 2))],
  ["a hello of 16 MB", record(hello(named("a.test"), 1, 0xffffff))],
  ["a hello of 20 KB", record(hello(named("a.test"), 1, 20_000))],
  ["a hello that ends early", record(hello(named("a.test"), 1, 40))],
  ["an extension that ends early", record(hello(Buffer.from([0, 0, 0, 9, 0, 7])))],
  [
    "a name that is longer than its list",
    record(hello(extension(0, Buffer.from([0, 4, 0, 0, 9, 97])))),
  ],
  ["two names", record(hello(Buffer.concat([named("a.test"), named("b.test")])))],
  [
    "two names in one list",
    record(hello(extension(0, vector(Buffer.from([0, 0, 1, 97, 0, 0, 1, 98]))))),
  ],
  ["another type of name", record(hello(named("a.test", 1)))],
  ["an empty name", record(hello(named("")))],
  ["an empty list", record(hello(extension(0, u16(0))))],
  ["a name with NUL", record(hello(named("a.test\0.b.test")))],
  ["a name with a line break", record(hello(named("a.test\nlistener=x")))],
  ["a name with a slash", record(hello(named("a.test/b")))],
  ["a name with a final dot", record(hello(named("a.test.")))],
  ["a name with a port", record(hello(named("a.test:443")))],
  ["a name beyond ASCII", record(hello(named("\xe4.test")))],
  ["a name of 300 bytes", record(hello(named(`${"a.".repeat(150)}b`)))],
  ["a label of 64 bytes", record(hello(named(`${"a".repeat(64)}.test`)))],
];

it("what is no ClientHello is closed, and reaches no backend", async () => {
  const server = await startTcpServer(() => {});
  const gateway = await startGateway({
    listeners: [{ protocol: "TLS", tcpRoutes: [{ backends: [to(server.port)] }] }],
  });
  // The same form with nothing wrong in it goes through.
  const good = new RawClient(gateway.port, { allowHalfOpen: true });
  good.send(record(hello(named("a.test"))));
  await eventually(() => server.sockets[0] ?? null, "a connection");
  for (const [what, bytes] of junk) {
    const client = new RawClient(gateway.port, { allowHalfOpen: true });
    client.send(bytes);
    await eventually(() => client.isClosed || client.hasEnded || null, `the end of ${what}`);
    expect(client.received, what).toBe("");
  }
  // Left in the middle.
  const leaving = new RawClient(gateway.port, { allowHalfOpen: true });
  leaving.send(record(hello(named("a.test"))).subarray(0, 20));
  leaving.socket.end();
  await leaving.ends();
  expect(server.sockets).toHaveLength(1);
  await gateway.seen(/error="the client left" reason=BadRequest/);
  await gateway.seen(/error="this is no TLS" reason=BadRequest/);
  expect(gateway.output).not.toContain("listener=x");
  expect(gateway.output).not.toMatch(/bug| {4}at /);
});

it("a hello that does not come in time is not waited for", async () => {
  const server = await startTcpServer(() => {});
  const gateway = await startGateway({
    file: { frontendPolicies: { tls: { handshakeTimeout: "300ms" } } },
    listeners: [{ protocol: "TLS", tcpRoutes: [{ backends: [to(server.port)] }] }],
  });
  const bytes = record(hello(named("a.test")));
  const silent = new RawClient(gateway.port, { allowHalfOpen: true });
  const slow = new RawClient(gateway.port, { allowHalfOpen: true });
  slow.send(bytes.subarray(0, 30));
  await silent.closes();
  await slow.closes();
  const other = await startGateway({
    listeners: [{ protocol: "TLS", tcpRoutes: [{ backends: [to(server.port)] }] }],
  });
  const honest = new RawClient(other.port, { allowHalfOpen: true });
  honest.send(bytes);
  await eventually(() => server.sockets[0] ?? null, "the honest client's connection");
  await gateway.seen(/error="no ClientHello in time" reason=Timeout/);
});

it("TLS can end here: the backend gets what was in it", async () => {
  const folder = temporaryFolder();
  makeCertificate(folder, "ca");
  makeCertificate(folder, "a", { signer: "ca", names: "DNS:a.test" });
  makeCertificate(folder, "b", { signer: "ca", names: "DNS:b.test" });
  const a = await startTcpServer((socket) => {
    socket.write("a\n");
    socket.pipe(socket);
  });
  const b = await startTcpServer((socket) => {
    socket.write("b\n");
    socket.pipe(socket);
  });
  const listener = (name: string, port: number) => ({
    hostname: `${name}.test`,
    protocol: "TLS",
    tls: { cert: `${name}.pem`, key: `${name}.key` },
    tcpRoutes: [{ name, backends: [to(port)] }],
  });
  const gateway = await startGateway({
    folder,
    listeners: [listener("a", a.port), listener("b", b.port)],
  });
  const ca = readFileSync(join(folder, "ca.pem"));
  // Whatever is in it, the gateway agrees to no protocol of it.
  const options = { ALPNProtocols: ["postgresql"] };
  expect(await talk(gateway.port, "a.test", ca, options)).toMatchObject({ heard: "a\nhello\n" });
  expect(await talk(gateway.port, "b.test", ca)).toMatchObject({ heard: "b\nhello\n" });
  expect(await talk(gateway.port, "c.test", ca)).toMatch(/ALTNAME/);
  const plain = new RawClient(gateway.port, { allowHalfOpen: true });
  plain.send("no TLS at all\r\n\r\n");
  await plain.ends();
  expect([a.sockets.length, b.sockets.length]).toEqual([1, 1]);
  await gateway.seen(/route=a .*tls\.sni=a\.test protocol=tcp bytes\.received=6 bytes\.sent=8/);
});

it("a dynamic backend goes to the server that the connection names, if that may be reached", async () => {
  const folder = temporaryFolder();
  const server = await startSecure(folder, "server", ["a.test", "api.test"]);
  const start = (route: object): Promise<Gateway> =>
    startGateway({
      env: {
        NODE_OPTIONS: `--import ${names}`,
        GWC_TEST_NAMES: JSON.stringify({
          "a.test": ["127.0.0.1"],
          "metadata.test": ["169.254.169.254"],
          "other.test": ["127.0.0.2"],
        }),
      },
      listeners: [{ protocol: "TLS", tcpRoutes: [route] }],
    });
  const dynamic = { port: server.port, allowPrivate: ["127.0.0.1"] };
  const gateway = await start({ hostnames: ["*.test"], backends: [{ dynamic }] });
  expect(await talk(gateway.port, "a.test", server.ca)).toMatchObject({
    heard: "server for a.test\nhello\n",
  });
  expect(await talk(gateway.port, "metadata.test", server.ca)).toBe("ECONNRESET");
  expect(await talk(gateway.port, "other.test", server.ca)).toBe("ECONNRESET");
  expect(await talk(gateway.port, "unknown.test", server.ca)).toBe("ECONNRESET");
  expect(await talk(gateway.port, "a.example.com", server.ca)).toMatch(/ECONNRESET/);
  await gateway.seen(/endpoint=metadata\.test:\d+ .*error="169\.254\.169\.254 is a metadata/);
  await gateway.seen(/error="127\.0\.0\.2 is loopback" reason=ForbiddenDestination/);
  await gateway.seen(/sni=unknown\.test .*reason=UpstreamFailure/);
  // Addresses are no server names (RFC 6066 3), but somebody may send one.
  const anywhere = await start({
    policies: { authorization: { rules: ["true"] } },
    backends: [{ dynamic: { port: server.port } }],
  });
  for (const name of ["127.0.0.1", "2130706433", "0x7f.1", "localhost", "169.254.169.254"]) {
    const client = new RawClient(anywhere.port, { allowHalfOpen: true });
    client.send(record(hello(named(name))));
    await client.closes();
    expect(client.error, name).toBe("ECONNRESET");
  }
  const nameless = new RawClient(anywhere.port, { allowHalfOpen: true });
  nameless.send(record(hello(Buffer.alloc(0))));
  await nameless.closes();
  await anywhere.seen(/error="no host is named" reason=BadRequest/);
  expect(anywhere.output.match(/reason=ForbiddenDestination/g)).toHaveLength(5);
});
