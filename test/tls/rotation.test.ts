import { hash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect as connectHttp2,
} from "node:http2";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import { type ConnectionOptions, connect, type TLSSocket } from "node:tls";
import { expect, it, onTestFinished } from "vitest";
import { makeCertificate } from "../harness/certificate.ts";
import { eventually } from "../harness/eventually.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { pause } from "../harness/pause.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

type Content = Readonly<Record<string, string | Buffer>>;

/** A Secret as the kubelet mounts it: the keys are links through `..data`, which a change replaces at once. */
class Mount {
  readonly #path: string;
  #count = 0;

  constructor(folder: string, name: string, content: Content) {
    this.#path = join(folder, name);
    mkdirSync(this.#path);
    this.put(content);
    for (const key of Object.keys(content)) {
      symlinkSync(join("..data", key), join(this.#path, key));
    }
  }

  put(content: Content): void {
    this.#count += 1;
    const version = `..2026_${this.#count}`;
    mkdirSync(join(this.#path, version));
    for (const [key, value] of Object.entries(content)) {
      writeFileSync(join(this.#path, version, key), value);
    }
    symlinkSync(version, join(this.#path, "..data_tmp"));
    renameSync(join(this.#path, "..data_tmp"), join(this.#path, "..data"));
    const before = join(this.#path, `..2026_${this.#count - 1}`);
    rmSync(before, { recursive: true, force: true });
  }
}

/** Certificates of a folder as a Secret holds them. */
function pair(folder: string, name: string, more: Content = {}): Content {
  const read = (extension: string) => readFileSync(join(folder, `${name}.${extension}`));
  return { "tls.crt": read("pem"), "tls.key": read("key"), ...more };
}

/** An upstream that answers, streams (`/stream`, a tick when the test asks for it) and speaks a protocol of its own. */
async function startUpstream() {
  const ticks: (() => void)[] = [];
  const server = createServer((request, response) => {
    if (request.url !== "/stream") {
      response.end("ok");
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    ticks.push(() => response.write("tick"));
  });
  const sockets: Socket[] = [];
  server.on("upgrade", (_request, socket: Socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    socket.write(
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: own/1\r\n\r\n",
    );
    socket.on("data", (chunk) => socket.write(chunk));
  });
  const port = await listen(server);
  return {
    host: `127.0.0.1:${port}`,
    tick: () => {
      for (const write of ticks) write();
    },
  };
}

const anyone = { rejectUnauthorized: false };

/** A TLS connection and what it got. */
class SecureClient {
  readonly socket: TLSSocket;
  received = "";

  constructor(port: number, options: ConnectionOptions = {}) {
    this.socket = connect({ port, host: "127.0.0.1", ...anyone, ...options });
    this.socket.on("data", (chunk) => {
      this.received += chunk;
    });
    this.socket.on("error", () => {});
    onTestFinished(() => {
      this.socket.destroy();
    });
  }

  async exchanges(text: string, response: RegExp): Promise<void> {
    this.received = "";
    this.socket.write(text);
    await eventually(() => response.exec(this.received), `${response} on a connection`);
  }
}

const asks = "GET / HTTP/1.1\r\nHost: a.example.com\r\n\r\n";

/** The common name of the certificate that a name gets; the error's code without one. */
function subject(port: number, options: ConnectionOptions): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", ...anyone, ...options }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.destroy();
    });
    socket.on("error", (error: NodeJS.ErrnoException) => resolve(`${error.code}`));
  });
}

async function until(look: () => Promise<boolean>, what: string): Promise<void> {
  await eventually(async () => (await look()) || null, what);
}

async function startHttp2(port: number, servername: string) {
  const session: ClientHttp2Session = connectHttp2(`https://127.0.0.1:${port}`, {
    ...anyone,
    servername,
  });
  onTestFinished(() => session.destroy());
  session.on("error", () => {});
  const open = (path: string): { stream: ClientHttp2Stream; text: () => string } => {
    const stream = session.request({ ":path": path, ":authority": servername });
    let text = "";
    stream.on("data", (chunk) => {
      text += chunk;
    });
    return { stream, text: () => text };
  };
  return { session, open };
}

function warnings(gateway: Gateway): readonly string[] {
  return gateway.output.match(/^.*\twarn\t.*$/gm) ?? [];
}

it("connections outlive a new certificate in a mounted Secret: keep-alive, HTTP/2, tunnels", async () => {
  const folder = temporaryFolder();
  for (const name of ["first", "second", "other"]) makeCertificate(folder, name);
  const mount = new Mount(folder, "a", pair(folder, "first"));
  new Mount(folder, "b", pair(folder, "other"));
  const { host, tick } = await startUpstream();
  const listener = (name: string, hostname: string) => ({
    hostname,
    protocol: "HTTPS",
    tls: { cert: `${name}/tls.crt`, key: `${name}/tls.key` },
    routes: [{ backends: [{ host }] }],
  });
  const gateway = await startGateway({
    folder,
    listeners: [listener("a", "a.example.com"), listener("b", "*")],
  });
  const { port } = gateway;
  const servername = "a.example.com";
  expect(await subject(port, { servername })).toBe("first");
  const kept = new SecureClient(port, { servername });
  await kept.exchanges(asks, /ok$/);
  const tunnel = new SecureClient(port, { servername });
  await tunnel.exchanges(
    "GET /own HTTP/1.1\r\nHost: a.example.com\r\nConnection: Upgrade\r\nUpgrade: own/1\r\n\r\n",
    /^HTTP\/1\.1 101 [\s\S]*\r\n\r\n/,
  );
  const http2 = await startHttp2(port, servername);
  const streamed = http2.open("/stream");
  await new Promise((resolve) => streamed.stream.on("response", resolve));
  tick();
  await eventually(() => (streamed.text() === "tick" ? true : null), "a tick");

  mount.put(pair(folder, "second"));
  await until(
    async () => (await subject(port, { servername })) === "second",
    "the new certificate",
  );
  expect(await subject(port, { servername: "elsewhere.test" })).toBe("other");
  await kept.exchanges(asks, /ok$/);
  await tunnel.exchanges("bytes", /^bytes$/);
  tick();
  await eventually(() => (streamed.text() === "ticktick" ? true : null), "another tick");
  const asked = http2.open("/");
  await eventually(() => (asked.text() === "ok" ? true : null), "a response over HTTP/2");
  expect(http2.session.closed).toBe(false);

  // Half of a certificate, or the key of another one: the old pair stays in use, and this is logged once.
  const half = readFileSync(join(folder, "first.pem"), "utf8").slice(0, 200);
  mount.put({ "tls.crt": half, "tls.key": readFileSync(join(folder, "first.key")) });
  await gateway.seen(/\twarn\t.*a\/tls\.crt.*can't be used.*stays in use/);
  await pause(2500);
  expect(warnings(gateway)).toHaveLength(1);
  expect(gateway.output).not.toContain(half.slice(40, 80));
  expect(await subject(port, { servername })).toBe("second");
  mount.put(pair(folder, "first"));
  await until(async () => (await subject(port, { servername })) === "first", "the next good one");
  await kept.exchanges(asks, /ok$/);
  expect(warnings(gateway)).toHaveLength(1);
});

it("authorities of client certificates change: who they no longer know is refused, with a session too", async () => {
  const folder = temporaryFolder();
  for (const name of ["site", "ca1", "ca2"]) makeCertificate(folder, name);
  makeCertificate(folder, "one", { signer: "ca1" });
  makeCertificate(folder, "two", { signer: "ca2" });
  const authority = (name: string) => ({ "ca.crt": readFileSync(join(folder, `${name}.pem`)) });
  const mount = new Mount(folder, "mounted", pair(folder, "site", authority("ca1")));
  const { host } = await startUpstream();
  const gateway = await startGateway({
    folder,
    listeners: [
      {
        protocol: "HTTPS",
        tls: { cert: "mounted/tls.crt", key: "mounted/tls.key", root: "mounted/ca.crt" },
        routes: [{ backends: [{ host }] }],
      },
    ],
  });
  const shown = (name: string): ConnectionOptions => ({
    cert: readFileSync(join(folder, `${name}.pem`)),
    key: readFileSync(join(folder, `${name}.key`)),
  });
  const isServed = async (options: ConnectionOptions) => {
    const client = new SecureClient(gateway.port, options);
    const closed = new Promise<false>((resolve) => client.socket.on("close", () => resolve(false)));
    const responded = client.exchanges(asks, /ok$/).then(
      () => true,
      () => false,
    );
    return Promise.race([responded, closed]);
  };
  const first = new SecureClient(gateway.port, shown("one"));
  let session: Buffer | undefined;
  first.socket.on("session", (next) => {
    session = next;
  });
  await first.exchanges(asks, /ok$/);
  await eventually(() => session ?? null, "a session");
  expect(await isServed(shown("two"))).toBe(false);
  mount.put(pair(folder, "site", authority("ca2")));
  await until(() => isServed(shown("two")), "the new authority");
  expect(await isServed(shown("one"))).toBe(false);
  expect(await isServed({ ...shown("one"), ...(session && { session }) })).toBe(false);
  // The connection that was let in stays.
  await first.exchanges(asks, /ok$/);
  mount.put(pair(folder, "site", { "ca.crt": "no certificate" }));
  await gateway.seen(/\twarn\t.*mounted\/ca\.crt holds no certificate; the old one stays in use/);
  expect(await isServed(shown("two"))).toBe(true);
});

it("passwords and keys in mounted Secrets change under a connection that stays", async () => {
  const folder = temporaryFolder();
  const user = (password: string) => `u:{SHA}${hash("sha1", password, "base64")}\n`;
  const users = new Mount(folder, "users", { ".htaccess": user("old") });
  const keys = new Mount(folder, "keys", { client: "old-key" });
  const { host } = await startUpstream();
  const route = (name: string, policies: object) => ({
    name,
    matches: [{ path: { pathPrefix: `/${name}` } }],
    policies,
    backends: [{ host }],
  });
  const gateway = await startGateway({
    folder,
    listeners: [
      {
        routes: [
          route("basic", { basicAuth: { htpasswd: { file: "users/.htaccess" } } }),
          route("key", { apiKey: { keys: [{ file: "keys/client" }] } }),
        ],
      },
    ],
  });
  const url = `http://127.0.0.1:${gateway.port}`;
  const status = async (path: string, authorization: string) =>
    (await fetch(url + path, { headers: { authorization } })).status;
  const login = (password: string) => `Basic ${Buffer.from(`u:${password}`).toString("base64")}`;
  const isOpen = async (path: string, authorization: string) =>
    (await status(path, authorization)) === 200;
  expect(await isOpen("/basic", login("old"))).toBe(true);
  expect(await isOpen("/key", "Bearer old-key")).toBe(true);
  users.put({ ".htaccess": user("new") });
  keys.put({ client: JSON.stringify({ key: "new-key", metadata: {} }) });
  await until(() => isOpen("/basic", login("new")), "the new password");
  await until(() => isOpen("/key", "Bearer new-key"), "the new key");
  expect(await status("/basic", login("old"))).toBe(401);
  expect(await status("/key", "Bearer old-key")).toBe(401);
  users.put({ ".htaccess": "u:half-of-a-ha" });
  keys.put({ client: '{"key": "half-of-a' });
  const told = async () => {
    await status("/basic", login("new"));
    await status("/key", "Bearer new-key");
    return warnings(gateway).length === 2;
  };
  await until(told, "the warnings");
  for (let i = 0; i < 25; i++) {
    await told();
    await pause(100);
  }
  expect(warnings(gateway)).toHaveLength(2);
  expect(gateway.output).not.toContain("half-of-a");
  expect(await isOpen("/basic", login("new"))).toBe(true);
  expect(await isOpen("/key", "Bearer new-key")).toBe(true);
  users.put({ ".htaccess": user("last") });
  await until(() => isOpen("/basic", login("last")), "the last password");
});

it("a backend's key in a mounted Secret changes over reused connections; a bad one is logged once", async () => {
  const folder = temporaryFolder();
  const seen: (string | undefined)[] = [];
  const keysOf = new Map<Socket, Set<string | undefined>>();
  const server = createServer(({ socket, headers: { authorization } }, response) => {
    seen.push(authorization);
    keysOf.set(socket, (keysOf.get(socket) ?? new Set()).add(authorization));
    response.end("ok");
  });
  await listen(server);
  const mount = new Mount(folder, "key", { token: "first-key\n" });
  const { port } = server.address() as AddressInfo;
  const backends = [
    { host: `127.0.0.1:${port}`, policies: { backendAuth: { key: { file: "key/token" } } } },
  ];
  const gateway = await startGateway({ folder, listeners: [{ routes: [{ backends }] }] });
  const sent = async () => {
    await (await fetch(`http://127.0.0.1:${gateway.port}/`)).text();
    return seen.at(-1);
  };
  expect(await sent()).toBe("Bearer first-key");
  mount.put({ token: "Basic dTpw" });
  await until(async () => (await sent()) === "Basic dTpw", "the next key");
  mount.put({ token: "half\nof-a-key" });
  await until(async () => {
    expect(await sent()).toBe("Basic dTpw");
    return warnings(gateway).length > 0;
  }, "a warning");
  await pause(2500);
  expect(await sent()).toBe("Basic dTpw");
  expect(warnings(gateway)).toEqual([expect.stringContaining("key/token can't be used")]);
  expect(gateway.output).not.toMatch(/of-a-key|first-key|dTpw/);
  // A gateway that was paused during a change has closed its idle connections.
  const isReused = () => [...keysOf.values()].some(({ size }) => size > 1);
  for (let turn = 0; !isReused(); turn++) {
    mount.put({ token: `key-${turn}` });
    await until(async () => (await sent()) === `Bearer key-${turn}`, "another key");
  }
});

it("authorities of a backend change: the next connection trusts the new ones; bad ones are logged once", async () => {
  const folder = temporaryFolder();
  for (const name of ["ca1", "ca2"]) makeCertificate(folder, name);
  makeCertificate(folder, "server", { signer: "ca2", names: "DNS:localhost" });
  const server = createTlsServer({
    cert: readFileSync(join(folder, "server.pem")),
    key: readFileSync(join(folder, "server.key")),
  });
  server.on("request", (_request, response) => response.setHeader("connection", "close").end("ok"));
  await listen(server);
  const authority = (name: string) => ({ "ca.crt": readFileSync(join(folder, `${name}.pem`)) });
  const mount = new Mount(folder, "trusted", authority("ca1"));
  const { port } = server.address() as AddressInfo;
  const backends = [
    { host: `localhost:${port}`, policies: { backendTLS: { root: "trusted/ca.crt" } } },
  ];
  const gateway = await startGateway({ folder, listeners: [{ routes: [{ backends }] }] });
  const status = async () => (await fetch(`http://127.0.0.1:${gateway.port}/`)).status;
  expect(await status()).toBeGreaterThanOrEqual(502);
  mount.put(authority("ca2"));
  await until(async () => (await status()) === 200, "trust in the new authority");
  const half = readFileSync(join(folder, "ca1.pem"), "utf8").slice(0, -60);
  mount.put({ "ca.crt": half });
  await until(async () => {
    expect(await status()).toBe(200);
    return warnings(gateway).length > 0;
  }, "a warning");
  for (let i = 0; i < 25; i++) {
    expect(await status()).toBe(200);
    await pause(100);
  }
  expect(warnings(gateway)).toEqual([
    expect.stringContaining("trusted/ca.crt ends within a certificate"),
  ]);
  expect(gateway.output).not.toContain(half.slice(60, 100));
});
