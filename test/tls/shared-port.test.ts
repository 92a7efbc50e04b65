import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { type AddressInfo, connect as connectTcp, type TcpNetConnectOpts } from "node:net";
import path from "node:path";
import { text } from "node:stream/consumers";
import {
  type ConnectionOptions,
  connect,
  createServer as createTls,
  type TLSSocket,
} from "node:tls";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { atEnd } from "../harness/at-end.ts";
import { makeCertificate } from "../harness/certificate.ts";
import { eventually } from "../harness/eventually.ts";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { GwcProcess } from "../harness/gwc.ts";
import { RawClient } from "../harness/raw-client.ts";
import { refusals } from "../harness/refusals.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { program } from "../harness/tool.ts";
import { inPieces } from "./in-pieces.ts";

const folder = temporaryFolder();
let backend = 0;
let gateway: Gateway;
let proxied = 0;
let rest = 0;

const certificate = { cert: "edge.pem", key: "edge.key" };
const here = [
  {
    policies: {
      directResponse: {
        status: 200,
        bodyExpression: '"here: " + request.host + " " + source.address',
      },
    },
  },
];

const ended = (hostname: string) => ({
  name: `https ${hostname}`,
  protocol: "HTTPS",
  ...(hostname === "*" ? {} : { hostname }),
  tls: certificate,
  routes: here,
});

const passed = (hostname: string) => ({
  name: `tls ${hostname}`,
  protocol: "TLS",
  ...(hostname === "*" ? {} : { hostname }),
  tcpRoutes: [{ name: `to ${hostname}`, backends: [{ host: `127.0.0.1:${backend}` }] }],
});

const names = () => [
  ended("a.test"),
  ended("*.wild.test"),
  passed("b.test"),
  passed("x.wild.test"),
];

beforeAll(async () => {
  makeCertificate(folder, "edge", { names: "DNS:a.test,DNS:*.wild.test" });
  makeCertificate(folder, "backend", { names: "DNS:b.test,DNS:x.wild.test" });
  const file = (extension: string) => readFileSync(path.join(folder, `backend.${extension}`));
  const server = createTls({ cert: file("pem"), key: file("key") }, (socket) => {
    socket.on("data", (chunk) => socket.write(`there: ${chunk}`));
    socket.on("error", () => {});
  });
  atEnd(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  backend = (server.address() as AddressInfo).port;
  const first = await freePort();
  [proxied, rest] = [await freePort(), await freePort()];
  gateway = await startGateway({
    folder,
    env: { TERMINATION_GRACE_PERIOD_SECONDS: "1s" },
    config: {
      config: { logging: { level: "debug" } },
      frontendPolicies: {
        proxyProtocol: { version: "all", trustedSources: ["127.0.0.0/8"] },
      },
      binds: [
        { port: first, tunnelProtocol: "direct", listeners: names() },
        { port: proxied, tunnelProtocol: "proxy", listeners: names() },
        { port: rest, tunnelProtocol: "direct", listeners: [ended("a.test"), passed("*")] },
      ],
    },
  });
  gateway.port = first;
});

const request = (host: string) => `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;

/** A client of TLS that trusts both certificates, over a connection that it may have already. */
function client(
  port: number,
  servername: string | undefined,
  options: ConnectionOptions & Partial<TcpNetConnectOpts> = {},
): TLSSocket {
  const socket = connect({
    ...(options.socket === undefined ? { port, host: "127.0.0.1" } : {}),
    ca: [
      readFileSync(path.join(folder, "edge.pem")),
      readFileSync(path.join(folder, "backend.pem")),
    ],
    ...(servername === undefined ? { checkServerIdentity: () => undefined } : { servername }),
    ...options,
  });
  socket.on("error", () => {});
  atEnd(() => socket.destroy());
  return socket;
}

/** Returns the server that answers a client with a server name, by the certificate and the greeting; "" if none does. */
async function answer(
  port: number,
  servername: string | undefined,
  options: ConnectionOptions & Partial<TcpNetConnectOpts> = {},
  host = servername ?? "a.test",
): Promise<string> {
  const socket = client(port, servername, options);
  let said = "";
  socket.on("data", (chunk) => {
    said += chunk;
    if (said.startsWith("there: ") || said.includes("\r\n\r\n")) socket.end();
  });
  let subject = "";
  socket.on("secureConnect", () => {
    subject = String(socket.getPeerCertificate().subject.CN);
    socket.write(request(host));
  });
  await new Promise((resolve) => socket.once("close", resolve));
  const status = /^HTTP\/1\.1 (\d+)/.exec(said)?.[1];
  return `${subject} ${status ?? said.slice(0, "there:".length)}`.trim();
}

describe("HTTPS and TLS that is passed on share a port", () => {
  it("the most specific hostname has a connection, whichever of both its listener is for", async () => {
    const { port } = gateway;
    const found = await Promise.all(
      ["a.test", "y.wild.test", "b.test", "x.wild.test", "X.Wild.Test"].map((name) =>
        answer(port, name, {}, name.toLowerCase()),
      ),
    );
    expect(found).toEqual([
      "edge 200",
      "edge 200",
      "backend there:",
      "backend there:",
      "backend there:",
    ]);
    await gateway.seen(/listener="tls b\.test" route="to b\.test" .*tls\.sni=b\.test protocol=tcp/);
    const metrics = await (
      await fetch(`http://127.0.0.1:${await gateway.statsPort()}/metrics`)
    ).text();
    expect(metrics).toMatch(
      /gwc_downstream_connections_total\{listener="tls b\.test",route="to b\.test",reason=""\} 1\n/,
    );
  });

  it("openssl sees the certificate of whom it names, and HTTP/2 where TLS ends here", async () => {
    const run = promisify(execFile);
    const seen = async (name: string) => {
      const talk = run(program("openssl"), [
        ..."s_client -alpn h2 -connect".split(" "),
        `127.0.0.1:${gateway.port}`,
        ...["-servername", name],
      ]);
      talk.child.stdin?.end();
      return (await talk).stdout;
    };
    expect(await seen("b.test")).toMatch(/subject=CN ?= ?backend/);
    const own = await seen("a.test");
    expect(own).toMatch(/subject=CN ?= ?edge/);
    expect(own).toContain("ALPN protocol: h2");
    const session = connectHttp2("https://a.test", {
      createConnection: () => client(gateway.port, "a.test", { ALPNProtocols: ["h2"] }),
    });
    atEnd(() => session.destroy());
    expect(await text(session.request({ ":path": "/" }))).toMatch(/^here: a\.test\S* 127/);
    // Its certificate is good for this name too, but the name is somebody else's: the client has to connect anew.
    const coalesced = connectHttp2("https://y.wild.test", {
      createConnection: () => client(gateway.port, "y.wild.test", { ALPNProtocols: ["h2"] }),
    });
    atEnd(() => coalesced.destroy());
    const stream = coalesced.request({ ":path": "/", ":authority": "x.wild.test" });
    const status = await new Promise((resolve) =>
      stream.once("response", (headers) => resolve(headers[":status"])),
    );
    expect(status).toBe(421);
    session.close();
    coalesced.close();
  });

  it("a hello may come byte by byte", async () => {
    for (const [name, who] of [
      ["y.wild.test", "edge 200"],
      ["x.wild.test", "backend there:"],
    ] as const) {
      expect(await answer(await inPieces(gateway.port), name)).toBe(who);
    }
  });

  it("who names no server, or one that nobody has, is for HTTPS unless every name is passed on", async () => {
    expect(await answer(gateway.port, undefined)).toBe("edge 200");
    expect(await answer(gateway.port, "nobody.org", { rejectUnauthorized: false })).toBe(
      "edge 404",
    );
    expect(await answer(rest, undefined)).toBe("backend there:");
    expect(await answer(rest, "b.test")).toBe("backend there:");
    expect(await answer(rest, "a.test")).toBe("edge 200");
  });

  it("what is no TLS is refused as by any port of HTTPS, and who leaves early hurts nobody", async () => {
    const garbage = new RawClient(gateway.port);
    garbage.send("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n");
    await garbage.closes();
    expect(garbage.received).not.toContain("HTTP");
    await gateway.seen(/the connection of \S+ is aborted: (ERR_SSL|EPROTO)\S*/);
    for (const begin of ["", "\x16", "\x16\x03\x01\x02\x00\x01\x00"]) {
      const leaving = new RawClient(gateway.port);
      leaving.send(begin);
      await eventually(
        () => leaving.socket.bytesWritten === begin.length || null,
        "the bytes sent",
      );
      leaving.socket.end();
      await leaving.closes();
      const resetting = new RawClient(gateway.port);
      await new Promise((resolve) => resetting.socket.once("connect", resolve));
      resetting.send(begin);
      resetting.socket.resetAndDestroy();
    }
    expect(await answer(gateway.port, "b.test")).toBe("backend there:");
  });

  it("a client that sends no hello is closed", async () => {
    const config = {
      config: { logging: { level: "debug" } },
      frontendPolicies: { tls: { handshakeTimeout: "300ms" } },
      binds: [{ port: await freePort(), listeners: names() }],
    };
    const hasty = await startGateway({ folder, config });
    await new RawClient(hasty.port).closes();
    await hasty.seen(/is aborted: no ClientHello within the time limit/);
  });

  it("what a proxy says comes before the hello, and is so for both", async () => {
    const behind = (address: string) => {
      const socket = connectTcp(proxied, "127.0.0.1");
      socket.write(`PROXY TCP4 ${address} 127.0.0.1 4321 443\r\n`);
      return { socket };
    };
    const own = client(proxied, "a.test", behind("192.0.2.7"));
    own.write(request("a.test"));
    expect(await text(own)).toContain("here: a.test 192.0.2.7");
    expect(await answer(proxied, "b.test", behind("192.0.2.8"))).toBe("backend there:");
    await gateway.seen(/src\.addr=192\.0\.2\.8:4321 tls\.sni=b\.test protocol=tcp/);
    expect(await answer(proxied, "b.test")).toBe("");
  });

  it("hundreds of clients of both get each what is theirs", async () => {
    const all = Array.from({ length: 300 }, (_, index) => index % 2 === 0);
    const found: string[] = [];
    const waiting = [...all];
    await Promise.all(
      Array.from({ length: 30 }, async () => {
        for (let own = waiting.pop(); own !== undefined; own = waiting.pop())
          found.push(`${own} ${await answer(gateway.port, own ? "a.test" : "b.test")}`);
      }),
    );
    const count = (what: string) => found.filter((each) => each === what).length;
    expect([count("true edge 200"), count("false backend there:")]).toEqual([150, 150]);
  });

  it("ends idle connections at shutdown, and aborts the others", async () => {
    const passing = client(gateway.port, "b.test");
    await new Promise((resolve) => passing.once("secureConnect", resolve));
    const mute = new RawClient(gateway.port);
    await new Promise((resolve) => mute.socket.once("connect", resolve));
    expect(await answer(gateway.port, "a.test")).toBe("edge 200");
    const closed = new Promise((resolve) => passing.once("close", resolve));
    expect(await gateway.stop()).toBe(0);
    await closed;
    await mute.closes();
  });
});

it("a change of the configuration keeps the connections of both", async () => {
  const port = await freePort();
  const file = path.join(folder, "gateway.yaml");
  const write = (...listeners: object[]) =>
    writeFileSync(file, JSON.stringify({ binds: [{ port, listeners }] }));
  write(ended("a.test"));
  const run = new GwcProcess(["run", file], {
    cwd: folder,
    env: { ADMIN_ADDR: "127.0.0.1:0", STATS_ADDR: "127.0.0.1:0", READINESS_ADDR: "127.0.0.1:0" },
  });
  await run.seen(/listening on \S+:\d+/);
  const kept = client(port, "a.test");
  const ask = async (times: number) => {
    kept.write("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n");
    await eventually(() => heard.split("here: a.test").length === times + 1 || null, "a response");
  };
  let heard = "";
  kept.on("data", (chunk) => {
    heard += chunk;
  });
  await ask(1);
  write(ended("a.test"), passed("b.test"));
  await eventually(
    async () => (await answer(port, "b.test")) === "backend there:" || null,
    "b.test",
  );
  await ask(2);
  const passing = client(port, "b.test");
  let echoed = "";
  passing.on("data", (chunk) => {
    echoed += chunk;
  });
  const echo = async (word: string) => {
    passing.write(word);
    await eventually(() => echoed.includes(`there: ${word}`) || null, `the echo of ${word}`);
  };
  await echo("one");
  write(ended("a.test"), passed("c.test"));
  await eventually(
    async () => (await answer(port, "b.test")) !== "backend there:" || null,
    "no b.test",
  );
  await echo("two");
  write(ended("a.test"));
  await eventually(
    async () =>
      (await answer(port, "c.test", { rejectUnauthorized: false })) === "edge 404" || null,
    "no c.test",
  );
  await echo("three");
  await ask(3);
  expect(kept.destroyed || passing.destroyed).toBe(false);
});

it("connection rules and the most connections hold for both together", async () => {
  const port = await freePort();
  const limited = await startGateway({
    folder,
    config: {
      frontendPolicies: {
        tcp: { maxConnections: 2 },
        networkAuthorization: {
          rules: [{ deny: 'source.address == "127.0.0.2"' }, { allow: "true" }],
        },
      },
      binds: [{ port, listeners: names() }],
    },
  });
  const open = (name: string) =>
    new Promise<TLSSocket>((resolve) => {
      const socket = client(port, name);
      socket.once("secureConnect", () => resolve(socket));
    });
  const both = [await open("a.test"), await open("b.test")];
  expect(await answer(port, "a.test")).toBe("");
  await limited.seen(/a port has 2 connections: more are refused/);
  for (const socket of both) socket.destroy();
  const elsewhere = { localAddress: "127.0.0.2" };
  for (const name of ["a.test", "b.test"]) {
    await eventually(async () => (await answer(port, name)) !== "" || null, `room for ${name}`);
    expect(await answer(port, name, elsewhere)).not.toMatch(/there:|200/);
  }
  await limited.seen(/a connection is closed that is not allowed by/);
});

it("what else shares a port, and a hostname that both have, is refused when it is built", () => {
  const files = [ended("a.test"), passed("b.test")];
  for (const [listeners, code] of [
    [[...files, { name: "plain", routes: here }], "protocol-conflict"],
    [[{ name: "plain", routes: here }, passed("b.test")], "protocol-conflict"],
    [[...files, { ...passed("*"), protocol: "TCP" }], "protocol-conflict"],
    [[ended("a.test"), passed("a.test")], "listener-conflict"],
  ] as const)
    expect(refusals({ listeners: [...listeners] }), JSON.stringify(listeners)).toContain(code);
});
