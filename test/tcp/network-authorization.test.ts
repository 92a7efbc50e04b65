import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { connect as connectTls } from "node:tls";
import { beforeAll, describe, expect, it } from "vitest";
import { checkFiles } from "../../compiler/compile.ts";
import { memoryHost } from "../../compiler/host.ts";
import { makeCertificate } from "../harness/certificate.ts";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { gwc } from "../harness/gwc.ts";
import { startScripted } from "../harness/scripted.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { gatewayManifest } from "../kubernetes/gateway-manifest.ts";
import { checkManifests, complaints } from "../kubernetes/manifests.ts";

/** Clients are told apart by their address on this machine. */
const [ALLOWED, DENIED, OUTSIDE] = ["127.0.1.5", "127.0.1.9", "127.0.2.1"];
const rules = [
  'cidr("127.0.1.0/24").containsIP(source.address)',
  { deny: `source.address == "${DENIED}"` },
];

const folder = temporaryFolder();
let gateway: Gateway;
/** The same rules of two policies of a cluster. */
let cluster: Gateway;
let [http, https, tcp, passed, ended, named, proxied] = [0, 0, 0, 0, 0, 0, 0];
let requests = 0;

beforeAll(async () => {
  makeCertificate(folder, "ca");
  for (const name of ["alice", "mallory"]) makeCertificate(folder, name, { signer: "ca" });
  makeCertificate(folder, "server", { names: "DNS:localhost" });
  const ports = await Promise.all(Array.from({ length: 8 }, () => freePort()));
  [http = 0, https = 0, tcp = 0, passed = 0, ended = 0, named = 0, proxied = 0] = ports;
  const upstream = await startScripted((response) => {
    requests += 1;
    response.end("passed on");
  });
  const backends = [{ host: upstream.host }];
  const tls = { cert: join(folder, "server.pem"), key: join(folder, "server.key") };
  const web = { routes: [{ backends }] };
  const secure = { protocol: "HTTPS", tls, ...web };
  const stream = { tcpRoutes: [{ backends }] };
  const onlyAlice = {
    networkAuthorization: { rules: ['source.subjectCn == "alice"'] },
    proxyProtocol: { version: "v1", mode: "optional", trustedSources: [ALLOWED] },
  };
  [gateway, cluster] = await Promise.all([
    startGateway({
      config: {
        frontendPolicies: { networkAuthorization: { rules } },
        binds: [
          { port: http, listeners: [web] },
          { port: https, listeners: [secure] },
          { port: tcp, listeners: [{ protocol: "TCP", ...stream }] },
          { port: passed, listeners: [{ protocol: "TLS", ...stream }] },
          { port: ended, listeners: [{ protocol: "TLS", tls, ...stream }] },
        ],
      },
    }),
    startGateway({ config: manifests(ports[7] ?? 0, upstream.host) }),
    startGateway({
      config: {
        frontendPolicies: onlyAlice,
        binds: [
          {
            port: named,
            listeners: [{ ...secure, tls: { ...tls, root: join(folder, "ca.pem") } }],
          },
          {
            port: proxied,
            listeners: [
              { protocol: "TLS", tls: { ...tls, root: join(folder, "ca.pem") }, ...stream },
            ],
          },
        ],
      },
    }),
  ]);
});

/** One policy allows, another one denies: both hold. */
function manifests(port: number, host: string): string {
  const [address = "", upstreamPort = ""] = host.split(":");
  const policy = (name: string, action: string, expression: string) =>
    `{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, metadata: {name: ${name}}, spec: {
      targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: gw}], frontend: {
        networkAuthorization: {action: ${action}, policy: {matchExpressions: ['${expression}']}}}}}`;
  return [
    gatewayManifest(port).trim().slice(0, -"---".length),
    `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: r}, spec: {
      parentRefs: [{name: gw}], rules: [{backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: b}]}]}}`,
    `{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: b}, spec: {static: {host: ${address}, port: ${upstreamPort}}}}`,
    policy("allow", "Allow", 'cidr("127.0.1.0/24").containsIP(source.address)'),
    policy("deny", "Deny", `source.address == "${DENIED}"`),
  ].join("\n---\n");
}

const request = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/** All that comes back for these bytes; "" when the connection is closed without a word. */
async function ask(port: number, localAddress: string, bytes = request): Promise<string> {
  const socket = connect({ port, host: "127.0.0.1", localAddress });
  socket.on("error", () => {});
  socket.write(bytes);
  return text(socket).catch(() => "");
}

/** The same over TLS, which shows the certificate of this name. */
async function askOverTls(
  port: number,
  localAddress: string,
  { name = "", first = "" } = {},
): Promise<string> {
  const socket = connect({ port, host: "127.0.0.1", localAddress });
  if (first !== "") socket.write(first);
  const shown = name === "" ? {} : { cert: pem(`${name}.pem`), key: pem(`${name}.key`) };
  const secure = connectTls({ socket, rejectUnauthorized: false, ...shown });
  secure.on("error", () => {});
  secure.write(request);
  return text(secure).catch(() => "");
}

const pem = (file: string): string => readFileSync(join(folder, file), "utf8");
const answered = expect.stringMatching(/^HTTP\/1\.1 200 OK\r\n.*passed on/s);

describe("who may connect", () => {
  it.each([
    ["HTTP", () => http],
    ["TCP", () => tcp],
  ])("is decided for each connection of %s, whatever it carries", async (_, port) => {
    expect(await ask(port(), ALLOWED)).toEqual(answered);
    const before = requests;
    const claims = `GET / HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: ${ALLOWED}\r\nX-Real-IP: ${ALLOWED}\r\nForwarded: for=${ALLOWED}\r\n\r\n`;
    const proxy = `PROXY TCP4 ${ALLOWED} 127.0.0.1 4711 80\r\n`;
    const noHttp = "\0\0\r\n\r\n";
    for (const bytes of [request, claims, `${proxy}${request}`, noHttp])
      for (const address of [DENIED, OUTSIDE]) expect(await ask(port(), address, bytes)).toBe("");
    expect(requests).toBe(before);
  });

  it.each([
    ["HTTPS", () => https],
    ["terminated TLS", () => ended],
  ])("holds for %s", async (_, port) => {
    expect(await askOverTls(port(), ALLOWED)).toEqual(answered);
    for (const address of [DENIED, OUTSIDE]) expect(await askOverTls(port(), address)).toBe("");
  });

  it("is decided before TLS that is passed on has said whom it wants", async () => {
    for (const address of [DENIED, OUTSIDE]) expect(await ask(passed, address, "\x16")).toBe("");
  });

  it("is what the policies of a Gateway say together", async () => {
    const port = Number(new URL(cluster.url).port);
    expect(await ask(port, ALLOWED)).toEqual(answered);
    expect(await ask(port, DENIED)).toBe("");
    expect(await ask(port, OUTSIDE)).toBe("");
  });

  it("is said by a client's certificate, and not by what a proxy says", async () => {
    for (const port of [named, proxied]) {
      expect(await askOverTls(port, OUTSIDE, { name: "alice" })).toEqual(answered);
      expect(await askOverTls(port, OUTSIDE, { name: "mallory" })).toBe("");
      // A trusted proxy says for whom it connects, and the certificate is its client's.
      const first = "PROXY TCP4 192.0.2.7 127.0.0.1 4711 80\r\n";
      expect(await askOverTls(port, ALLOWED, { name: "mallory", first })).toBe("");
      expect(await askOverTls(port, ALLOWED, { name: "alice", first })).toEqual(answered);
    }
  });

  it("is logged and counted, without a reason for the client", async () => {
    await ask(http, DENIED);
    await gateway.seen(/a connection is closed that is not allowed by \S+ \S*networkAuthorization/);
    const stats = await fetch(`http://127.0.0.1:${await gateway.statsPort()}/metrics`);
    expect(await stats.text()).toMatch(/^gwc_connections_denied_total [1-9]\d*$/m);
    await gateway.seen(/reason=Authorization/);
  });
});

describe("what a rule about connections can't ask", () => {
  const findings = (rule: string) => {
    const routes = [{ policies: { directResponse: { status: 200 } } }];
    const config = {
      frontendPolicies: { networkAuthorization: { rules: [rule] } },
      binds: [{ port: 8080, listeners: [{ routes }] }],
    };
    const host = memoryHost({ "gateway.yaml": JSON.stringify(config) });
    const { diagnostics } = checkFiles(["gateway.yaml"], host, { name: "t", isStrict: false });
    return diagnostics.map(({ code }) => code);
  };

  it("is reported: requests, identities, models", () => {
    expect(findings('source.address == "10.0.0.1"')).toEqual([]);
    expect(findings('source.identity.trustDomain == "cluster.local"')).toEqual([]);
    expect(findings('request.headers["x-forwarded-for"] == "10.0.0.1"')).toEqual(["needs-source"]);
    expect(findings('jwt.sub == "eve"')).toContain("needs-source");
    expect(findings('mcp.tool.name == "echo"')).not.toEqual([]);
  });

  it("is reported at its place in manifests", () => {
    const config = manifests(8080, "127.0.0.1:80").replace(
      `source.address == "${DENIED}"`,
      'request.path == "/x"',
    );
    expect(complaints(checkManifests(config))).toEqual([
      expect.stringContaining('"request.path" is not available for a connection'),
    ]);
  });
});

describe("what gwc says of rules about connections", () => {
  const file = (text: string) => `${text}
binds:
  - port: 8080
    listeners: [{ routes: [{ name: web, backends: [{ host: "127.0.0.1:1" }] }] }]
  - port: 8081
    listeners: [{ protocol: TCP, tcpRoutes: [{ name: wire, backends: [{ host: "127.0.0.1:1" }] }] }]
`;
  const network = (...all: readonly string[]) =>
    file(`frontendPolicies: { networkAuthorization: { rules: ${JSON.stringify(all)} } }`);
  const inside = (length: number) => `cidr("10.0.0.0/${length}").containsIP(source.address)`;
  const here = temporaryFolder({
    "open.yaml": file(""),
    "narrow.yaml": network(inside(8)),
    "wide.yaml": network(inside(7)),
    "narrow.test.yaml": `
tests:
  - { name: outside, request: GET http://localhost:8080/, from: 8.8.8.8, expect: { reason: Authorization } }
  - { name: inside, request: GET http://localhost:8080/, from: 10.1.1.1, expect: { status: 200 } }
`,
  });
  const said = async (...parameters: readonly string[]) =>
    (await gwc(parameters, { cwd: here })).stdout;

  it("a change that lets clients in is reported, for requests and for connections", async () => {
    const wider = await said("diff", "narrow.yaml", "wide.yaml");
    expect(wider).toContain("OPENS   route web (:8080 /)   403 -> served");
    expect(wider).toContain("OPENS   route wire (:8081 connections)   closed -> forwarded");
    expect(wider).toContain("e.g.    a connection from 11.0.0.0");
    const closed = await said("diff", "open.yaml", "narrow.yaml");
    expect(closed).toContain("CLOSES  route wire (:8081 connections)   forwarded -> closed");
    expect(closed).not.toContain("CHANGES");
  });

  it("who may send a request is asked of them, too", async () => {
    const can = async (from: string) =>
      await said("can", "GET", "http://localhost:8080/", "--from", from, "-f", "narrow.yaml");
    expect(await can("10.1.2.3")).toMatch(/^yes/);
    expect(await can("8.8.8.8")).toMatch(/^no/);
  });

  it("tests meet them before everything else", async () => {
    expect(
      await gwc(["test", "narrow.test.yaml", "-f", "narrow.yaml"], { cwd: here }),
    ).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("2 passed"),
    });
  });
});
