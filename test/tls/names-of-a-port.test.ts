import { readFileSync, writeFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { connect as connectTcp } from "node:net";
import { join } from "node:path";
import { type ConnectionOptions, connect, type TLSSocket } from "node:tls";
import { beforeAll, describe, expect, it } from "vitest";
import { atEnd } from "../harness/at-end.ts";
import { makeCertificate } from "../harness/certificate.ts";
import { eventually } from "../harness/eventually.ts";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { GwcProcess } from "../harness/gwc.ts";
import { refusals } from "../harness/refusals.ts";
import { startTcpServer } from "../harness/tcp-server.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { startSecure, to } from "./passed-tls.ts";

const folder = temporaryFolder();
const file = (name: string) => readFileSync(join(folder, name));
const tls = { cert: "edge.pem", key: "edge.key" };

beforeAll(() => {
  makeCertificate(folder, "edge", { names: "DNS:*.test" });
  for (const name of ["ca", "other"]) makeCertificate(folder, name);
  makeCertificate(folder, "client", { signer: "ca" });
  makeCertificate(folder, "second", { signer: "other" });
});

const requests = (name: string, own: object = {}) => ({
  name,
  ...(name === "rest" ? {} : { hostname: `${name}.test` }),
  protocol: "HTTPS",
  tls: { ...tls, ...own },
  routes: [{ policies: { directResponse: { status: 200, body: name } } }],
});

const connections = (name: string, port: number, own: object | undefined) => ({
  name,
  ...(name === "rest" ? {} : { hostname: `${name}.test` }),
  protocol: "TLS",
  ...(own === undefined ? {} : { tls: { ...tls, ...own } }),
  tcpRoutes: [{ name, backends: [to(port)] }],
});

const shown = (name: string) => ({ cert: file(`${name}.pem`), key: file(`${name}.key`) });

function open(port: number, name: string | undefined, options: ConnectionOptions = {}): TLSSocket {
  const socket = connect({
    ...{ port, host: "127.0.0.1", rejectUnauthorized: false },
    ...(name === undefined ? {} : { servername: `${name}.test` }),
    ...options,
  });
  socket.on("error", () => {});
  atEnd(() => socket.destroy());
  return socket;
}

/** The status and body for a host on a connection of its own; "refused" if there is no response. */
async function ask(
  port: number,
  name: string | undefined,
  options: ConnectionOptions = {},
  host = `${name}.test`,
): Promise<string> {
  const socket = open(port, name, options);
  socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  const said = await all(socket);
  const [head = "", body = ""] = said.split("\r\n\r\n");
  const [, status] = /^HTTP\/1\.1 (\d+)/.exec(head) ?? [];
  return status === undefined ? "refused" : `${status} ${status === "200" ? body : ""}`.trim();
}

/** Returns the greeting of a server that speaks first, and its second line; "refused" if it closes. */
async function hear(port: number, name: string, options: ConnectionOptions = {}): Promise<string> {
  const socket = open(port, name, options);
  let heard = "";
  socket.on("secureConnect", () => socket.write("hello\n"));
  socket.on("data", (chunk) => {
    heard += chunk;
    if (heard.endsWith("hello\n")) socket.end();
  });
  await new Promise((resolve) => socket.once("close", resolve));
  return heard === "" ? "refused" : (heard.split("\n")[0] ?? "");
}

function all(socket: TLSSocket): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk;
    });
    socket.on("close", () => resolve(text));
  });
}

async function greeter(name: string): Promise<number> {
  const { port } = await startTcpServer((socket) => {
    socket.write(`${name}\n`);
    socket.pipe(socket);
  });
  return port;
}

describe("terminated TLS and TLS that is passed on share a port", () => {
  it("without HTTPS: the most specific hostname has a connection, and its bytes arrive", async () => {
    const [plain, wild] = [await greeter("plain"), await greeter("wild")];
    const secure = await startSecure(folder, "secure", ["passed.test", "x.deep.test"]);
    const gateway = await startGateway({
      folder,
      listeners: [
        connections("ended", plain, {}),
        connections("passed", secure.port, undefined),
        connections("*.deep", wild, {}),
        connections("x.deep", secure.port, undefined),
      ],
    });
    const { port } = gateway;
    expect(await hear(port, "ended")).toBe("plain");
    expect(await hear(port, "y.deep")).toBe("wild");
    expect(await hear(port, "passed")).toBe("secure for passed.test");
    expect(await hear(port, "x.deep", { maxVersion: "TLSv1.2" })).toBe("secure for x.deep.test");
    expect(await hear(port, "nobody")).toBe("refused");
    await gateway.seen(/listener=passed route=passed .*tls\.sni=passed\.test protocol=tcp/);
    await gateway.seen(/listener=ended route=ended .*tls\.sni=ended\.test protocol=tcp/);
  });

  it("with HTTPS: each name is served in its own way", async () => {
    const plain = await greeter("plain");
    const secure = await startSecure(folder, "backend", ["passed.test"]);
    const gateway = await startGateway({
      folder,
      listeners: [
        requests("rest"),
        requests("site"),
        connections("ended", plain, {}),
        connections("passed", secure.port, undefined),
      ],
    });
    const { port } = gateway;
    expect(await ask(port, "site")).toBe("200 site");
    expect(await ask(port, "nobody")).toBe("200 rest");
    expect(await ask(port, undefined, {}, "any.test")).toBe("200 rest");
    expect(await hear(port, "ended")).toBe("plain");
    expect(await hear(port, "passed")).toBe("backend for passed.test");
    // Requests for a name whose connections are passed on belong on a connection of that name.
    expect(await ask(port, "site", {}, "ended.test")).toBe("421");
    expect(await ask(port, "site", {}, "passed.test")).toBe("421");
    await gateway.seen(/listener=ended route=ended .*tls\.sni=ended\.test protocol=tcp/);
    const stats = await fetch(`http://127.0.0.1:${await gateway.statsPort()}/metrics`);
    const lines = (await stats.text()).split("\n");
    expect(lines).toContain(`gwc_downstream_tls_handshakes_total{port="${port}",result="ok"} 6`);
  });

  it("a hostname that two of them have is refused at build", () => {
    const pair = [connections("a", 1, {}), connections("a", 1, undefined)];
    expect(refusals({ listeners: pair })).toContain("listener-conflict");
    expect(refusals({ listeners: [requests("a"), connections("a", 1, {})] })).toContain(
      "listener-conflict",
    );
  });
});

describe("listeners of one port ask clients for different certificates", () => {
  const listeners = () => [
    requests("open"),
    requests("strict", { root: "ca.pem" }),
    requests("other", { root: "other.pem" }),
    requests("new", { minTLSVersion: "1.3" }),
  ];

  it("a certificate is required for the server names of listeners that require one, of their authority", async () => {
    const { port } = await startGateway({ folder, listeners: listeners() });
    const seen: Record<string, readonly string[]> = {};
    for (const name of ["open", "strict", "other"]) {
      const found = [];
      for (const options of [{}, shown("client"), shown("second")])
        found.push(await ask(port, name, options));
      seen[name] = found;
    }
    expect(seen).toEqual({
      open: ["200 open", "200 open", "200 open"],
      strict: ["refused", "200 strict", "refused"],
      other: ["refused", "refused", "200 other"],
    });
    expect(await ask(port, "new")).toBe("200 new");
    expect(await ask(port, "new", { maxVersion: "TLSv1.2" })).toBe("refused");
    expect(await ask(port, "open", { maxVersion: "TLSv1.2" })).toBe("200 open");
  });

  it("no other connection of the port leads to them", async () => {
    const { port } = await startGateway({
      folder,
      listeners: [...listeners(), requests("rest")],
    });
    expect(await ask(port, "open", {}, "strict.test")).toBe("421");
    expect(await ask(port, "nobody", {}, "strict.test")).toBe("421");
    expect(await ask(port, undefined, {}, "strict.test")).toBe("421");
    expect(await ask(port, "other", shown("second"), "strict.test")).toBe("421");
    expect(await ask(port, "STRICT")).toBe("refused");
    // Another spelling of the name is no name of a listener, and no way around its certificates.
    const dotted = { servername: "strict.test." };
    expect(await ask(port, undefined, dotted, "strict.test")).toBe("421");
    expect(await ask(port, undefined, dotted, "strict.test.")).toBe("421");
    const session = connectHttp2("https://open.test", {
      createConnection: () => open(port, "open", { ALPNProtocols: ["h2"] }),
    });
    atEnd(() => session.destroy());
    const stream = session.request({ ":path": "/", ":authority": "strict.test" });
    const status = await new Promise((resolve) =>
      stream.once("response", (head) => resolve(head[":status"])),
    );
    expect(status).toBe(421);
  });

  it.each(["TLSv1.2", "TLSv1.3"] as const)(
    "a session of %s that began under another name is not resumed under theirs",
    async (maxVersion) => {
      const { port } = await startGateway({ folder, listeners: listeners() });
      const sessionOf = async (name: string, options: ConnectionOptions) => {
        const socket = open(port, name, { maxVersion, ...options });
        const session = new Promise<Buffer>((resolve) => socket.once("session", resolve));
        socket.write(`GET / HTTP/1.1\r\nHost: ${name}.test\r\nConnection: close\r\n\r\n`);
        await all(socket);
        return session;
      };
      const anonymous = await sessionOf("open", {});
      const foreign = await sessionOf("other", shown("second"));
      for (const session of [anonymous, foreign])
        expect(await ask(port, "strict", { maxVersion, session })).toBe("refused");
      // The session itself is good, where it began.
      const again = open(port, "open", { maxVersion, session: anonymous });
      await new Promise((resolve) => again.once("secureConnect", resolve));
      expect(again.isSessionReused()).toBe(true);
    },
  );

  it("the same for connections whose bytes are passed on", async () => {
    const [a, b] = [await greeter("a"), await greeter("b")];
    const { port } = await startGateway({
      folder,
      listeners: [connections("a", a, {}), connections("b", b, { root: "ca.pem" })],
    });
    expect(await hear(port, "a")).toBe("a");
    expect(await hear(port, "b")).toBe("refused");
    expect(await hear(port, "b", shown("second"))).toBe("refused");
    expect(await hear(port, "b", shown("client"))).toBe("b");
  });

  it("other authorities in a file hold for the name that has them", async () => {
    writeFileSync(join(folder, "changing.pem"), file("ca.pem"));
    const { port } = await startGateway({
      folder,
      listeners: [requests("open"), requests("strict", { root: "changing.pem" })],
    });
    expect(await ask(port, "strict", shown("client"))).toBe("200 strict");
    writeFileSync(join(folder, "changing.pem"), file("other.pem"));
    await eventually(
      async () => (await ask(port, "strict", shown("second"))) === "200 strict" || null,
      "the new authority",
    );
    expect(await ask(port, "strict", shown("client"))).toBe("refused");
    expect(await ask(port, "open")).toBe("200 open");
  });

  it("each end knows the client that a proxy names, and who its certificate is", async () => {
    const echo = await greeter("passed");
    const says = '"from " + source.address + " " + source.subjectCn';
    const site = (name: string, own: object) => ({
      ...requests(name, own),
      routes: [{ policies: { directResponse: { status: 200, bodyExpression: says } } }],
    });
    const gateway = await startGateway({
      folder,
      listeners: [
        requests("open"),
        site("strict", { root: "ca.pem" }),
        connections("ended", echo, { root: "ca.pem" }),
      ],
      file: {
        frontendPolicies: {
          proxyProtocol: { version: "all", trustedSources: ["127.0.0.0/8"] },
          networkAuthorization: {
            rules: [{ deny: 'source.address == "192.0.2.9"' }, { allow: "true" }],
          },
        },
      },
    });
    const behind = (address: string, certificate = "client") => {
      const socket = connectTcp(gateway.port, "127.0.0.1");
      atEnd(() => socket.destroy());
      socket.write(`PROXY TCP4 ${address} 127.0.0.1 4321 443\r\n`);
      return { socket, ...shown(certificate) };
    };
    expect(await ask(gateway.port, "strict", behind("192.0.2.7"))).toBe(
      "200 from 192.0.2.7 client",
    );
    expect(await ask(gateway.port, "strict", behind("192.0.2.7", "second"))).toBe("refused");
    expect(await ask(gateway.port, "strict", behind("192.0.2.9"))).toBe("refused");
    expect(await hear(gateway.port, "ended", behind("192.0.2.8"))).toBe("passed");
    expect(await hear(gateway.port, "ended", behind("192.0.2.9"))).toBe("refused");
    await gateway.seen(/listener=ended route=ended .*src\.addr=192\.0\.2\.8:4321/);
  });

  it("a name that begins to require certificates ends its connections without one", async () => {
    const port = await freePort();
    const config = join(folder, "gateway.yaml");
    const write = (...all: object[]) =>
      writeFileSync(config, JSON.stringify({ binds: [{ port, listeners: all }] }));
    write(requests("open"), requests("a"));
    const env = { ADMIN_ADDR: "127.0.0.1:0", STATS_ADDR: "127.0.0.1:0" };
    const run = new GwcProcess(["run", config], {
      cwd: folder,
      env: { ...env, READINESS_ADDR: "127.0.0.1:0" },
    });
    await run.seen(/listening on \S+:\d+/);
    const kept = open(port, "a");
    let heard = "";
    kept.on("data", (chunk) => {
      heard += chunk;
    });
    const request = "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n";
    kept.write(request);
    await eventually(() => heard.includes("200 OK") || null, "a response");
    write(requests("open"), requests("a", { root: "ca.pem" }));
    await eventually(
      async () =>
        ((await ask(port, "a")) === "refused" &&
          (await ask(port, "a", shown("client"))) === "200 a") ||
        null,
      "clients without a certificate to be refused, and those with one to be served",
    );
    kept.write(request);
    await new Promise((resolve) => (kept.destroyed ? resolve(0) : kept.once("close", resolve)));
    expect(heard.split("200 OK")).toHaveLength(2);
    expect(await ask(port, "open")).toBe("200 open");
  });
});
