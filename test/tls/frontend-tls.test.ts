import { readFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { request } from "node:https";
import { join } from "node:path";
import { type ConnectionOptions, connect } from "node:tls";
import { expect, it, onTestFinished } from "vitest";
import { makeCertificate } from "../harness/certificate.ts";
import { startGateway } from "../harness/gateway.ts";
import { RawClient } from "../harness/raw-client.ts";
import { refusals } from "../harness/refusals.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { startUpstream } from "../harness/upstream.ts";

const tls = { cert: "site.pem", key: "site.key" };

async function secure(listeners: (upstream: string) => readonly object[], file: object = {}) {
  const folder = temporaryFolder();
  makeCertificate(folder, "site", { key: "rsa" });
  makeCertificate(folder, "ca");
  makeCertificate(folder, "client", { signer: "ca" });
  makeCertificate(folder, "expired", { signer: "ca", days: "-1" });
  makeCertificate(folder, "stranger");
  const upstream = await startUpstream((asked, response) => response.end(asked.headers.host));
  return startGateway({ listeners: listeners(upstream), file, folder });
}

const one = (own: object) => (upstream: string) => [
  { protocol: "HTTPS", tls: { ...tls, ...own }, routes: [{ backends: [{ host: upstream }] }] },
];

it("versions and suites that leave no handshake are refused at build", () => {
  const of = (own: object, file: object = {}) => refusals({ listeners: one(own)("a:1"), file });
  expect(of({ minTLSVersion: "1.3", maxTLSVersion: "1.2" })).toEqual(["tls-versions"]);
  expect(of({ cipherSuites: ["TLS13_AES_128_GCM_SHA256"] })).toEqual(["tls-suites"]);
  const file = { frontendPolicies: { tls: { cipherSuites: ["TLS13_AES_128_GCM_SHA256"] } } };
  expect(of({}, file)).toEqual(["tls-suites"]);
  expect(of({ minTLSVersion: "TLS_V1_1" })).toEqual(["unknown-value"]);
  expect(of({ cipherSuites: ["TLS_RSA_WITH_RC4_128_SHA"] })).toEqual(["unknown-value"]);
  expect(of({}, { frontendPolicies: { tls: { handshakeTimeout: "99ms" } } })).toEqual([
    "out-of-range",
  ]);
});

it("a protocol is agreed on by ALPN, and only one that is configured", async () => {
  const only = await secure(one({}), { frontendPolicies: { tls: { alpn: ["http/1.1"] } } });
  expect(await handshake(only.port, { ALPNProtocols: ["h2", "http/1.1"] })).toBe("http/1.1");
  await expect(handshake(only.port, { ALPNProtocols: ["h2"] })).rejects.toThrow(/no application/);
  expect(await handshake(only.port, {})).toBe(false);
  const both = await secure(one({}));
  expect(await handshake(both.port, { ALPNProtocols: ["http/1.1", "h2"] })).toBe("h2");
});

it("clients exchange keys by the groups of the listener, and by no others", async () => {
  const { port } = await secure(one({ keyExchangeGroups: ["P-384", "X25519_MLKEM768"] }));
  for (const ecdhCurve of ["P-384", "X25519MLKEM768"])
    expect(await handshake(port, { ecdhCurve })).toBe(false);
  await expect(handshake(port, { ecdhCurve: "P-256" })).rejects.toThrow();
});

it("a handshake that takes too long is aborted", async () => {
  const { port } = await secure(one({}), {
    frontendPolicies: { tls: { handshakeTimeout: "200ms" } },
  });
  const patient = await secure(one({}));
  const other = new RawClient(patient.port);
  const started = performance.now();
  const client = new RawClient(port);
  await client.closes();
  expect(performance.now() - started).toBeGreaterThan(150);
  expect(other.isClosed).toBe(false);
});

it("with root, a client needs a certificate that its authorities signed", async () => {
  const { port, folder } = await secure(one({ root: "ca.pem" }));
  const shown = (name: string) => ({
    cert: readFileSync(join(folder, `${name}.pem`)),
    key: readFileSync(join(folder, `${name}.key`)),
  });
  expect((await ask(port, shown("client"))).status).toBe(200);
  await expect(ask(port, {})).rejects.toThrow();
  await expect(ask(port, shown("stranger"))).rejects.toThrow();
  await expect(ask(port, shown("expired"))).rejects.toThrow();
  expect((await ask(port, shown("client"))).status).toBe(200);
});

it("rules read the certificate of a client, over HTTP/1.1 and HTTP/2", async () => {
  const folder = temporaryFolder();
  makeCertificate(folder, "site");
  makeCertificate(folder, "ca", { commonName: "The CA" });
  const names = "DNS:client.example.com,URI:spiffe://cluster.local/ns/team/sa/robot,IP:10.0.0.1";
  makeCertificate(folder, "client", { signer: "ca", commonName: "cl,ient", names });
  makeCertificate(folder, "other", { signer: "ca" });
  const pem = readFileSync(join(folder, "client.pem"), "utf8");
  const host = await startUpstream((_request, response) => response.end("ok"));
  const rules = {
    "/names":
      'source.subjectCn == "cl,ient" && source.subject == r"CN=cl\\,ient" && source.issuer == "CN=The CA"',
    "/alternatives":
      'source.subjectAltNames == ["client.example.com", "spiffe://cluster.local/ns/team/sa/robot", "10.0.0.1"]',
    "/certificate": `source.certificate.trim() == ${JSON.stringify(pem.trim())}`,
    "/identity":
      'source.identity.trustDomain == "cluster.local" && source.identity.namespace == "team" && source.identity.serviceAccount == "robot"',
  };
  const routes = Object.entries(rules).map(([path, rule]) => ({
    name: path.slice(1),
    matches: [{ path: { exact: path } }],
    policies: { authorization: { rules: [rule] } },
    backends: [{ host }],
  }));
  const gateway = await startGateway({
    folder,
    listeners: [
      {
        protocol: "HTTPS",
        tls: { ...tls, root: "ca.pem" },
        routes,
      },
    ],
  });
  const shown = (name: string) => ({
    cert: readFileSync(join(folder, `${name}.pem`)),
    key: readFileSync(join(folder, `${name}.key`)),
  });
  for (const path of Object.keys(rules)) {
    expect((await ask(gateway.port, { ...shown("client"), path })).status, path).toBe(200);
    expect((await ask(gateway.port, { ...shown("other"), path })).status, path).toBe(403);
  }
  const session = connectHttp2(`https://127.0.0.1:${gateway.port}`, {
    ...shown("client"),
    rejectUnauthorized: false,
  });
  onTestFinished(() => session.destroy());
  const stream = session.request({ ":path": "/identity" });
  const status = await new Promise((resolve) =>
    stream.on("response", (head) => resolve(head[":status"])),
  );
  expect(status).toBe(200);
});

it("a request for a host of another listener than its connection's is answered 421", async () => {
  const { port } = await secure((host) =>
    ["a.example.com", "*.example.com", "*"].map((hostname, index) => ({
      name: `listener${index}`,
      hostname,
      protocol: "HTTPS",
      tls,
      routes: [{ backends: [{ host }] }],
    })),
  );
  const status = async (servername: string, host: string) =>
    (await ask(port, { servername, headers: { host } })).status;
  expect(await status("a.example.com", "a.example.com")).toBe(200);
  expect(await status("a.example.com", `A.example.com:${port}`)).toBe(200);
  expect(await status("b.example.com", "c.example.com")).toBe(200);
  expect(await status("b.example.com", "a.example.com")).toBe(421);
  expect(await status("a.example.com", "b.example.com")).toBe(421);
  expect(await status("a.example.com", "elsewhere.test")).toBe(421);
  expect(await status("elsewhere.test", "a.example.com")).toBe(421);
  expect(await status("elsewhere.test", "other.test")).toBe(200);
  // Without a name the connection belongs to the listener of every name.
  expect(await status("", "other.test")).toBe(200);
  expect(await status("", "a.example.com")).toBe(421);
});

/** The protocol that a handshake agrees on. */
function handshake(port: number, options: ConnectionOptions): Promise<string | false | null> {
  return new Promise((resolve, reject) => {
    const socket = connect(
      { port, host: "127.0.0.1", ...options, rejectUnauthorized: false },
      () => {
        resolve(socket.alpnProtocol);
        socket.destroy();
      },
    );
    socket.on("error", reject);
  });
}

/** One request over HTTP/1.1, on a connection of its own. */
function ask(port: number, options: object): Promise<{ status: number | undefined }> {
  return new Promise((resolve, reject) => {
    const target = { port, host: "127.0.0.1", agent: false, rejectUnauthorized: false };
    const asked = request({ ...target, ...options }, (response) => {
      response.resume();
      resolve({ status: response.statusCode });
    });
    onTestFinished(() => {
      asked.destroy();
    });
    asked.on("error", reject);
    asked.end();
  });
}
