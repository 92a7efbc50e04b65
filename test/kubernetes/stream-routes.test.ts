import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { expect, it, onTestFinished } from "vitest";
import { reachedRoute } from "../../compiler/inspect/explain/request.ts";
import { explainRoute } from "../../compiler/inspect/explain/route.ts";
import { statusOf } from "../../compiler/status/status.ts";
import { makeCertificate } from "../harness/certificate.ts";
import { eventually } from "../harness/eventually.ts";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { RawClient } from "../harness/raw-client.ts";
import { startTcpServer } from "../harness/tcp-server.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { checkManifests, complaints } from "./manifests.ts";

const gatewayApi = (kind: string, name: string, spec: string, version = "v1"): string =>
  `{apiVersion: gateway.networking.k8s.io/${version}, kind: ${kind}, metadata: {name: ${name}}, spec: {${spec}}}`;
const ours = (kind: string, name: string, spec: string): string =>
  `{apiVersion: gwc.dev/v1alpha1, kind: ${kind}, metadata: {name: ${name}}, spec: {${spec}}}`;
const gateway = (...listeners: readonly string[]): string =>
  gatewayApi("Gateway", "gw", `gatewayClassName: gwc, listeners: [${listeners.join(", ")}]`);
const backend = (name: string, host: string, port: number, rest = ""): string =>
  ours("GatewayBackend", name, `static: {host: ${host}, port: ${port}}${rest}`);
const to = (name: string, weight = 1): string =>
  `{group: gwc.dev, kind: GatewayBackend, name: ${name}, weight: ${weight}}`;
const documents = (...parts: readonly string[]): string => parts.join("\n---\n");

/** Compiles manifests and runs the bundle where its Secrets are. */
async function start(text: string, folder: string): Promise<Gateway> {
  return startGateway({ config: text, folder, env: { GWC_SECRETS_DIR: join(folder, "secrets") } });
}

/** The error by which a handshake fails, or the line that the server says. */
function greeting(port: number, servername: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connectTls({ port, servername, rejectUnauthorized: false });
    onTestFinished(() => {
      socket.destroy();
    });
    socket.on("data", (chunk) => resolve(String(chunk)));
    socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    socket.on("close", () => resolve("closed"));
  });
}

it("TLSRoutes pass TLS on by its server name, and TCPRoutes what comes or what was in it", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "secrets/cert"), { recursive: true });
  makeCertificate(join(folder, "secrets/cert"), "tls", { names: "DNS:ended.test" });
  // As a Secret of this type has it.
  copyFileSync(join(folder, "secrets/cert/tls.pem"), join(folder, "secrets/cert/tls.crt"));
  const plain = await startTcpServer((socket) => socket.end("plain"));
  const never = await startTcpServer((socket) => socket.end("never"));
  // It reads the client's own hello.
  const passed = await startTcpServer((socket) => socket.once("data", () => socket.destroy()));
  const [tls, tcp, ended] = [await freePort(), await freePort(), await freePort()];
  const running = await start(
    documents(
      gateway(
        `{name: tls, port: ${tls}, protocol: TLS, hostname: "*.example.com", tls: {mode: Passthrough}}`,
        `{name: tcp, port: ${tcp}, protocol: TCP}`,
        `{name: ended, port: ${ended}, protocol: TLS, tls: {certificateRefs: [{name: cert}]}}`,
      ),
      "{apiVersion: v1, kind: Secret, metadata: {name: cert}}",
      gatewayApi(
        "TLSRoute",
        "exact",
        `parentRefs: [{name: gw}], hostnames: [a.example.com], rules: [{backendRefs: [${to("passed")}]}]`,
        "v1alpha3",
      ),
      gatewayApi(
        "TLSRoute",
        "wild",
        `parentRefs: [{name: gw, sectionName: tls}], hostnames: ["*.example.com"], rules: [{backendRefs: [${to("plain")}]}]`,
      ),
      gatewayApi(
        "TCPRoute",
        "raw",
        "parentRefs: [{name: gw, sectionName: tcp}, {name: gw, sectionName: ended}], " +
          `rules: [{backendRefs: [${to("plain")}, ${to("never", 0)}]}]`,
        "v1alpha2",
      ),
      backend("plain", "127.0.0.1", plain.port),
      backend("never", "127.0.0.1", never.port),
      backend("passed", "127.0.0.1", passed.port, ", policies: {tcp: {connectTimeout: 2s}}"),
    ),
    folder,
  );
  await new RawClient(tcp, { allowHalfOpen: true }).receives("plain");
  expect(await greeting(ended, "ended.test")).toBe("plain");
  // The other backends answer for these names.
  expect(await greeting(tls, "b.example.com")).toMatch(/WRONG_VERSION|PACKET_LENGTH/);
  await greeting(tls, "a.example.com");
  expect(passed.sockets).toHaveLength(1);
  expect(await greeting(tls, "a.example.org")).toBe("ECONNRESET");
  expect(never.sockets).toHaveLength(0);
  await running.seen(
    /listener=tls route=default\/exact endpoint=127\.0\.0\.1:\d+ .*tls\.sni=a\.ex/,
  );
  await running.seen(/listener=ended route=default\/raw .*tls\.sni=ended\.test protocol=tcp/);
});

it("a dynamic backend is the same for requests and connections, where rules cover it", async () => {
  const server = await startTcpServer((socket) => {
    socket.once("data", (chunk) => {
      if (chunk[0] === 22) socket.destroy();
      else socket.end("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok");
    });
  });
  const [http, tls] = [await freePort(), await freePort()];
  const folder = temporaryFolder();
  const running = await start(
    documents(
      gateway(
        `{name: http, port: ${http}, protocol: HTTP}`,
        `{name: tls, port: ${tls}, protocol: TLS, tls: {mode: Passthrough}}`,
      ),
      ours(
        "GatewayBackend",
        "any",
        `dynamicForwardProxy: {allowPrivate: [127.0.0.1, "::1"], port: ${server.port}}`,
      ),
      gatewayApi(
        "HTTPRoute",
        "web",
        `parentRefs: [{name: gw}], rules: [{backendRefs: [${to("any")}]}]`,
      ),
      gatewayApi(
        "TLSRoute",
        "sni",
        `parentRefs: [{name: gw}], hostnames: [localhost], rules: [{backendRefs: [${to("any")}]}]`,
      ),
      ours(
        "GatewayPolicy",
        "rules",
        "targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: web}], " +
          "traffic: {authorization: {policy: {matchExpressions: ['request.host == \"localhost\"']}}}",
      ),
    ),
    folder,
  );
  const ask = async (host: string) => {
    const client = new RawClient(http, { allowHalfOpen: true });
    client.send(`GET / HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
    await client.ends();
    return client.received;
  };
  expect(await ask("localhost")).toMatch(/ 200 [\s\S]*ok$/);
  expect(await ask("127.0.0.1")).toMatch(/ 403 [\s\S]*authorization failed$/);
  await greeting(tls, "localhost");
  expect(server.sockets).toHaveLength(2);
  await eventually(
    () => /route=default\/sni endpoint=localhost:\d+/.test(running.output) || null,
    "the line",
  );
});

const service =
  "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{port: 443, appProtocol: https}]}}";
const tlsListener = "{name: tls, port: 8443, protocol: TLS, tls: {mode: Passthrough}}";
const tcpListener = "{name: tcp, port: 5432, protocol: TCP}";
const toService = "rules: [{backendRefs: [{name: web, port: 443}]}]";
const tlsRoute = (rest: string, rules = toService): string =>
  gatewayApi("TLSRoute", "r", `parentRefs: [{name: gw, sectionName: tls}], ${rest}${rules}`);
const tcpRoute = (rules = toService): string =>
  gatewayApi("TCPRoute", "r", `parentRefs: [{name: gw, sectionName: tcp}], ${rules}`);
const policyOn = (kind: string, name: string, rest: string, section = ""): string =>
  ours(
    "GatewayPolicy",
    "p",
    `targetRefs: [{group: ${kind === "Service" ? '""' : "gateway.networking.k8s.io"}, kind: ${kind}, name: ${name}${section}}], ${rest}`,
  );
const rules = (expression: string): string =>
  `traffic: {authorization: {policy: {matchExpressions: ['${expression}']}}}`;

it.each([
  {
    what: "a TLS listener that neither ends TLS nor passes it on",
    parts: [gateway("{name: tls, port: 8443, protocol: TLS}"), service, tlsRoute("")],
    said: ['tls-missing: the TLS listener "tls" has no certificate'],
  },
  {
    what: "HTTPS that is passed on",
    parts: [gateway("{name: a, port: 8443, protocol: HTTPS, tls: {mode: Passthrough}}")],
    said: [
      "https-passthrough: an HTTPS listener cannot pass TLS through: it needs the decrypted requests",
    ],
  },
  {
    what: "a certificate for TLS that is passed on",
    parts: [
      gateway(
        "{name: tls, port: 8443, protocol: TLS, tls: {mode: Passthrough, certificateRefs: [{name: c}]}}",
      ),
    ],
    said: ["broken-rule: with mode: Passthrough no certificate is needed"],
  },
  {
    what: "a certificate without TLS",
    parts: [gateway("{name: tcp, port: 1, protocol: TCP, tls: {mode: Passthrough}}")],
    said: ['tls-unused: the listener "tcp" has a certificate but speaks plain TCP'],
  },
  {
    what: "a host name without TLS",
    parts: [gateway("{name: tcp, port: 5432, protocol: TCP, hostname: a.test}")],
    said: ["name-without-tls: a TCP connection has no hostname, so this would never match"],
  },
  {
    what: "a TCPRoute on TLS that is passed on",
    parts: [
      gateway(tlsListener),
      service,
      gatewayApi("TCPRoute", "r", `parentRefs: [{name: gw}], ${toService}`),
    ],
    said: [
      'not-attached: TCPRoute "default/r" does not attach to Gateway "default/gw": its listeners do not take the kind TCPRoute',
    ],
  },
  {
    what: "two TCPRoutes on a listener",
    parts: [
      gateway(tcpListener),
      service,
      tcpRoute(),
      gatewayApi("TCPRoute", "s", `parentRefs: [{name: gw}], ${toService}`),
    ],
    said: [
      'unreachable-route: the route "default/s" is never chosen: "default/r" handles every request that it matches',
    ],
  },
  {
    what: "a policy about requests on a route of connections",
    parts: [
      gateway(tlsListener),
      service,
      tlsRoute(""),
      policyOn(
        "TLSRoute",
        "r",
        "traffic: {cors: {allowOrigins: ['*']}}, backend: {http: {version: HTTP2}}",
      ),
    ],
    said: [
      'misplaced-field: "cors" applies to HTTP requests, and there are only connections here',
      'misplaced-field: "http.version" applies to HTTP requests to backends, and there are only connections here',
    ],
  },
  {
    what: "a rule about requests",
    parts: [
      gateway(tcpListener),
      service,
      tcpRoute(),
      policyOn("Gateway", "gw", rules('request.path == "/"')),
    ],
    said: ['needs-source: "request.path" is not available for a connection: only "source" is'],
  },
  {
    what: "a backend whose policies are about requests",
    parts: [
      gateway(tcpListener),
      tcpRoute(`rules: [{backendRefs: [${to("b")}]}]`),
      backend("b", "b.test", 1, ", policies: {auth: {passthrough: {}}}"),
    ],
    said: [
      'misplaced-field: "auth" applies to HTTP requests to backends, and there are only connections here',
    ],
  },
  {
    what: "an MCP backend",
    parts: [
      gateway(tcpListener),
      tcpRoute(`rules: [{backendRefs: [${to("b")}]}]`),
      ours("GatewayBackend", "b", "mcp: {targets: [{name: a, static: {host: a.test, port: 1}}]}"),
    ],
    said: [
      "misplaced-field: an mcp backend applies to MCP messages, and there are only connections here",
    ],
  },
  {
    what: "TLS around the client's",
    parts: [
      gateway(tlsListener),
      service,
      tlsRoute(""),
      policyOn("TLSRoute", "r", "backend: {tls: {insecureSkipVerify: All}}"),
    ],
    said: [
      'misplaced-field: "tls" applies to TLS to backends, and there are only connections here',
    ],
  },
  {
    what: "an open proxy",
    parts: [
      gateway(tlsListener),
      tlsRoute("", `rules: [{backendRefs: [${to("any")}]}]`),
      ours("GatewayBackend", "any", "dynamicForwardProxy: {}"),
    ],
    said: ['open-proxy: clients can reach any host through the route "default/r"'],
  },
  {
    what: "an open proxy of requests",
    parts: [
      gateway("{name: web, port: 80, protocol: HTTP}"),
      gatewayApi(
        "HTTPRoute",
        "r",
        `parentRefs: [{name: gw}], rules: [{backendRefs: [${to("any")}]}]`,
      ),
      ours("GatewayBackend", "any", "dynamicForwardProxy: {allowPrivate: [10.0.0.0/8]}"),
    ],
    said: [
      "no-tunnels: clients of this proxy cannot open tunnels, so they reach no https URL through it",
      'open-proxy: clients can reach any host through the route "default/r"',
    ],
  },
  {
    what: "a destination that nobody names",
    parts: [
      gateway(tcpListener),
      tcpRoute(`rules: [{backendRefs: [${to("any")}]}]`),
      ours("GatewayBackend", "any", "dynamicForwardProxy: {}"),
    ],
    said: [
      "no-destination: a TCP connection has no hostname that a dynamic backend could connect to",
    ],
  },
  {
    what: "nothing: a protocol of the Service and TLS policies on it are not about TLS that is passed on",
    parts: [
      gateway(tlsListener),
      service,
      tlsRoute("hostnames: [a.test], "),
      gatewayApi(
        "BackendTLSPolicy",
        "b",
        'targetRefs: [{group: "", kind: Service, name: web}], validation: {wellKnownCACertificates: System, hostname: a.test}',
      ),
    ],
    said: [
      'policy-without-effect: BackendTLSPolicy "default/b" has no effect on anything that is served',
    ],
  },
])("what is said about $what", ({ parts, said }) => {
  const found = complaints(checkManifests(documents(...parts)));
  expect(found.map((line) => line.replace(/^\d+ /, ""))).toEqual(said);
});

it("status and explanation know routes of connections", () => {
  const checked = checkManifests(
    documents(
      gateway(tlsListener, tcpListener),
      service,
      tlsRoute("hostnames: [a.test], "),
      gatewayApi("TCPRoute", "raw", `parentRefs: [{name: gw}], ${toService}`),
      policyOn("Gateway", "gw", rules('source.address == "10.0.0.1"')),
    ),
  );
  expect(complaints(checked)).toEqual([]);
  if (checked.kubernetes === undefined) throw new Error("no manifests");
  const status = statusOf(checked, checked.kubernetes);
  const found = JSON.stringify(status.find(({ kind }) => kind === "Gateway"));
  expect(found).toContain(
    '"supportedKinds":[{"group":"gateway.networking.k8s.io","kind":"TLSRoute"}],"attachedRoutes":1',
  );
  expect(found).toContain(
    '"supportedKinds":[{"group":"gateway.networking.k8s.io","kind":"TCPRoute"}],"attachedRoutes":1',
  );
  const routes = status.filter(({ kind }) => kind === "TLSRoute" || kind === "TCPRoute");
  expect(JSON.stringify(routes).match(/"type":"Accepted","status":"True"/g)).toHaveLength(2);
  const [explained] = explainRoute(checked, "default/raw", undefined);
  expect(explained).toMatchObject({
    route: 'TCPRoute "default/raw"',
    listener: 'tcp of Gateway "default/gw"',
    backend: 'Service "default/web" port 443',
    fields: [{ field: "traffic.authorization" }],
  });
  const reached = (url: string) => reachedRoute(checked, "GET", new URL(url));
  expect(reached("https://a.test:8443/")).toEqual({
    kind: "none",
    reason:
      "port 8443 forwards connections without reading requests; connections to a.test go to the route default/r",
  });
  expect(reached("https://b.test:8443/")).toMatchObject({
    reason: expect.stringContaining("connections to b.test are closed"),
  });
});
