import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { makeCertificate } from "../harness/certificate.ts";
import { eventually } from "../harness/eventually.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { RawClient } from "../harness/raw-client.ts";
import { startTcpServer } from "../harness/tcp-server.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { program } from "../harness/tool.ts";
import { hello, named, names, record, startSecure, talk, to } from "./passed-tls.ts";

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
  // No server answers for these names, and the connection is aborted.
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
  const child = spawn(program("openssl"), parameters, { stdio: ["pipe", "pipe", "pipe"] });
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
  // The gateway agrees to no protocol of the list.
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
  await anywhere.seen(/error="no host" reason=BadRequest/);
  expect(anywhere.output.match(/reason=ForbiddenDestination/g)).toHaveLength(5);
});
