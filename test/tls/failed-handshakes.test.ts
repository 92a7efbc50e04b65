import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type ConnectionOptions, connect } from "node:tls";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { makeCertificate } from "../harness/certificate.ts";
import { eventually } from "../harness/eventually.ts";
import { expositionOf } from "../harness/exposition.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { RawClient } from "../harness/raw-client.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { program } from "../harness/tool.ts";

const site = { cert: "site.pem", key: "site.key" };
const routes = [{ policies: { directResponse: { status: 200, body: "ok" } } }];
const audited = { config: { logging: { audit: {} } } };

function folderOfCertificates(): string {
  const folder = temporaryFolder();
  makeCertificate(folder, "site", { key: "rsa", names: "DNS:a.example.com" });
  makeCertificate(folder, "ca");
  makeCertificate(folder, "client", { signer: "ca" });
  makeCertificate(folder, "expired", { signer: "ca", days: "-1" });
  makeCertificate(folder, "stranger");
  return folder;
}

it("handshakes without a client's certificate, or with one that is refused, are counted, audited and logged", async () => {
  const folder = folderOfCertificates();
  const listeners = [{ protocol: "HTTPS", tls: { ...site, root: "ca.pem" }, routes }];
  const gateway = await startGateway({ folder, file: audited, listeners });
  const { port } = gateway;
  expect(await handshake(port, shown(folder, "client"))).toBe("ok");
  for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
    const options = { minVersion: version, maxVersion: version };
    await handshake(port, options);
    for (const name of ["stranger", "expired"]) {
      await handshake(port, { ...shown(folder, name), ...options });
    }
  }
  await counted(gateway, { ok: 1, "no-client-certificate": 2, "client-certificate": 4 });
  expect(await gateway.stop()).toBe(0);
  const denied = gateway.stdout
    .split("\n")
    .filter((line) => line.includes('"event":"denied"'))
    .map((line) => JSON.parse(line));
  const common = {
    scope: "audit",
    event: "denied",
    "tls.sni": "a.example.com",
    reason: "ClientCertificate",
  };
  const refused = (code: string) => `client certificate refused (${code})`;
  const errors = [
    "no client certificate",
    refused("DEPTH_ZERO_SELF_SIGNED_CERT"),
    refused("CERT_HAS_EXPIRED"),
  ];
  expect(denied).toMatchObject([...errors, ...errors].map((error) => ({ ...common, error })));
  for (const line of denied) expect(line["src.addr"]).toMatch(/^127\.0\.0\.1:\d+$/);
  const told = gateway.stdout.match(/a connection is closed: no client certificate/g);
  expect(told).toHaveLength(1);
});

it("what else makes handshakes fail is counted by its kind", async () => {
  const folder = folderOfCertificates();
  const gateway = await startGateway({
    folder,
    file: audited,
    listeners: [
      {
        protocol: "HTTPS",
        tls: {
          ...site,
          minTLSVersion: "1.2",
          maxTLSVersion: "1.2",
          cipherSuites: ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"],
        },
        routes,
      },
    ],
  });
  const { port } = gateway;
  await handshake(port, { minVersion: "TLSv1.3" });
  await handshake(port, { ciphers: "ECDHE-RSA-AES256-GCM-SHA384", maxVersion: "TLSv1.2" });
  await handshake(port, { ALPNProtocols: ["gopher"] });
  for (const text of ["GET / HTTP/1.1\r\nhost: a\r\n\r\n", "ssh-ssh-ssh-ssh"]) {
    const plain = new RawClient(port);
    plain.send(text);
    await plain.closes();
  }
  const gone = new RawClient(port);
  gone.socket.end();
  await gone.closes();
  await distrustful(port);
  await counted(gateway, {
    ...{ ok: 0, version: 1, cipher: 1, alpn: 1, "not-tls": 2, closed: 1 },
    "server-certificate": 1,
  });
  expect(await gateway.stop()).toBe(0);
  expect(gateway.stdout).not.toContain('"event":"denied"');
});

it("a handshake that takes too long is counted as such", async () => {
  const gateway = await startGateway({
    folder: folderOfCertificates(),
    file: { ...audited, frontendPolicies: { tls: { handshakeTimeout: "300ms" } } },
    listeners: [{ protocol: "HTTPS", tls: site, routes }],
  });
  await new RawClient(gateway.port).closes();
  await counted(gateway, { ok: 0, timeout: 1 });
  expect(gateway.stdout).not.toContain('"event":"denied"');
});

it("ports whose connections are passed on count their handshakes too", async () => {
  const folder = folderOfCertificates();
  const gateway = await startGateway({
    folder,
    file: audited,
    listeners: [
      {
        protocol: "TLS",
        tls: { ...site, root: "ca.pem" },
        tcpRoutes: [{ backends: [{ host: "127.0.0.1:9" }] }],
      },
    ],
  });
  await handshake(gateway.port, {});
  await handshake(gateway.port, shown(folder, "client"));
  await counted(gateway, { ok: 1, "no-client-certificate": 1 });
  await gateway.seen(/"error":"no client certificate"/);
});

it("behind a proxy the audit log names the client that the proxy names", async () => {
  const folder = folderOfCertificates();
  const gateway = await startGateway({
    folder,
    file: { ...audited, frontendPolicies: { proxyProtocol: { version: "all" } } },
    listeners: [{ protocol: "HTTPS", tls: { ...site, root: "ca.pem" }, routes }],
  });
  const proxy = new RawClient(gateway.port);
  proxy.send("PROXY TCP4 192.0.2.7 192.0.2.1 4711 443\r\n");
  await handshake(gateway.port, { socket: proxy.socket, ...shown(folder, "stranger") });
  await gateway.seen(/"event":"denied","src.addr":"192\.0\.2\.7:4711"/);
});

function shown(folder: string, name: string): ConnectionOptions {
  return {
    cert: readFileSync(join(folder, `${name}.pem`)),
    key: readFileSync(join(folder, `${name}.key`)),
  };
}

/** `ok`: the server keeps the connection after its handshake; else why it does not. */
function handshake(port: number, options: ConnectionOptions): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(
      {
        host: "127.0.0.1",
        port,
        servername: "a.example.com",
        rejectUnauthorized: false,
        ...options,
      },
      // A server says that it refuses a certificate of TLS 1.3 after the client's side of the handshake.
      () => socket.write("GET / HTTP/1.1\r\nhost: a.example.com\r\nconnection: close\r\n\r\n"),
    );
    socket.once("data", () => resolve("ok"));
    socket.once("error", ({ message }) => resolve(message));
    socket.once("close", () => resolve("closed"));
  });
}

/** Starts a client that does not know the signer of the certificate, and sends that alert. */
async function distrustful(port: number): Promise<void> {
  const parameters = ["s_client", "-verify_return_error", "-connect", `127.0.0.1:${port}`];
  await promisify(execFile)(program("openssl"), parameters).catch(() => {});
}

/** The handshakes that the gateway has counted, once they are these. */
async function counted(
  gateway: Gateway,
  expected: Readonly<Record<string, number>>,
): Promise<void> {
  const stats = await gateway.statsPort();
  const sample = /^gwc_downstream_tls_handshakes_total\{port="(\d+)",result="([\w-]+)"\} (\d+)$/gm;
  const found = await eventually(async () => {
    const { text } = await expositionOf(stats);
    const all = [...text.matchAll(sample)];
    const sum = all.reduce((count, [, , , value]) => count + Number(value), 0);
    const wanted = Object.values(expected).reduce((count, value) => count + value, 0);
    return sum >= wanted ? all : null;
  }, "the handshakes");
  expect(Object.fromEntries(found.map(([, , result, value]) => [result, Number(value)]))).toEqual(
    expected,
  );
  expect(new Set(found.map(([, port]) => Number(port)))).toEqual(new Set([gateway.port]));
}
