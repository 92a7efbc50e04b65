import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { connect as connectTls } from "node:tls";
import { beforeAll, describe, expect, it } from "vitest";
import { checkFiles } from "../../compiler/compile.ts";
import { memoryHost } from "../../compiler/host.ts";
import { makeCertificate } from "../harness/certificate.ts";
import { eventually } from "../harness/eventually.ts";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { gwc } from "../harness/gwc.ts";
import { patient } from "../harness/patient-callout.ts";
import { type Scripted, startScripted } from "../harness/scripted.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

/** Clients are told apart by their address on this machine, which the server's paths contain. */
const [ALLOWED, DENIED, BROKEN, STALLED] = ["127.0.3.1", "127.0.3.2", "127.0.3.3", "127.0.3.4"];

const folder = temporaryFolder();
let authorizer: Scripted;
let closed: Gateway;
let open: Gateway;
let [http, https, tcp, passed, ended, lenient, hasty] = [0, 0, 0, 0, 0, 0, 0];
let served = 0;
/** Questions that the server does not answer, and how many of them the gateway has given up. */
let [stalled, givenUp] = [0, 0];

beforeAll(async () => {
  makeCertificate(folder, "ca");
  makeCertificate(folder, "alice", { signer: "ca" });
  makeCertificate(folder, "server", { names: "DNS:localhost" });
  const ports = await Promise.all(Array.from({ length: 7 }, () => freePort()));
  [http = 0, https = 0, tcp = 0, passed = 0, ended = 0, lenient = 0, hasty = 0] = ports;
  authorizer = await startScripted((response, _, { url, headers }) => {
    if (url.endsWith(DENIED) || headers["x-cn"] === "mallory") response.writeHead(403).end("no");
    else if (url.endsWith(BROKEN)) response.writeHead(500).end();
    else if (url.endsWith(STALLED)) {
      stalled += 1;
      response.on("close", () => {
        givenUp += 1;
      });
    } else response.writeHead(204).end();
  }, "anything");
  const upstream = await startScripted((response) => {
    served += 1;
    response.end("passed on");
  });
  const backends = [{ host: upstream.host }];
  const tls = { cert: join(folder, "server.pem"), key: join(folder, "server.key") };
  const stream = { tcpRoutes: [{ backends }] };
  const root = join(folder, "ca.pem");
  const asked = {
    host: authorizer.host,
    policies: patient,
    protocol: {
      http: {
        path: '"/check/" + source.address',
        body: '{"from": source.address, "to": destination.port}',
        addRequestHeaders: {
          ":method": '"POST"',
          "x-cn": "source.subjectCn",
          "x-server": "destination.hostname",
        },
      },
    },
  };
  const web = { routes: [{ backends }] };
  [closed, open] = await Promise.all([
    startGateway({
      config: {
        frontendPolicies: {
          networkAuthorization: { rules: ['source.address != "127.0.3.9"'] },
          networkExtAuthz: asked,
        },
        binds: [
          { port: http, listeners: [web] },
          { port: https, listeners: [{ protocol: "HTTPS", tls: { ...tls, root }, ...web }] },
          { port: tcp, listeners: [{ protocol: "TCP", ...stream }] },
          { port: passed, listeners: [{ protocol: "TLS", ...stream }] },
          { port: ended, listeners: [{ protocol: "TLS", tls: { ...tls, root }, ...stream }] },
        ],
      },
    }),
    startGateway({
      config: {
        frontendPolicies: {
          networkExtAuthz: {
            ...asked,
            policies: { http: { requestTimeout: "10m" } },
            failureMode: "allow",
            cache: { key: ["source.address"], ttl: "1h" },
          },
        },
        binds: [{ port: lenient, listeners: [web] }],
      },
    }),
    startGateway({
      config: {
        frontendPolicies: {
          networkExtAuthz: { ...asked, policies: { http: { requestTimeout: "50ms" } } },
        },
        binds: [{ port: hasty, listeners: [web] }],
      },
    }),
  ]);
});

const request = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/** All that comes back for a request; "" if the connection is closed. */
async function ask(port: number, localAddress: string): Promise<string> {
  const socket = connect({ port, host: "127.0.0.1", localAddress });
  socket.on("error", () => {});
  socket.write(request);
  return text(socket).catch(() => "");
}

async function askOverTls(port: number, localAddress: string): Promise<string> {
  const pem = (file: string): string => readFileSync(join(folder, file), "utf8");
  const socket = connect({ port, host: "127.0.0.1", localAddress });
  const secure = connectTls({
    socket,
    servername: "localhost",
    rejectUnauthorized: false,
    cert: pem("alice.pem"),
    key: pem("alice.key"),
  });
  secure.on("error", () => {});
  secure.write(request);
  return text(secure).catch(() => "");
}

const answered = expect.stringMatching(/^HTTP\/1\.1 200 OK\r\n.*passed on/s);
const questionsOf = (address: string) =>
  authorizer.received.filter(({ url }) => url === `/check/${address}`);

describe("a server that is asked about connections", () => {
  it.each([
    ["HTTP", () => http, ask],
    ["TCP", () => tcp, ask],
    ["HTTPS", () => https, askOverTls],
    ["terminated TLS", () => ended, askOverTls],
  ])("decides for %s", async (_, port, send) => {
    expect(await send(port(), ALLOWED)).toEqual(answered);
    const before = served;
    for (const address of [DENIED, BROKEN]) expect(await send(port(), address)).toBe("");
    expect(served).toBe(before);
  });

  it("decides before TLS that is passed on has named its server", async () => {
    const asked = questionsOf(DENIED).length;
    const socket = connect({ port: passed, host: "127.0.0.1", localAddress: DENIED });
    socket.on("error", () => {});
    expect(await text(socket).catch(() => "")).toBe("");
    expect(questionsOf(DENIED).length).toBe(asked + 1);
  });

  it("gets the values of the expressions, with the names of TLS", async () => {
    await askOverTls(https, "127.0.3.5");
    const [question] = questionsOf("127.0.3.5");
    expect(question).toMatchObject({
      method: "POST",
      headers: { "x-cn": "alice", "x-server": "localhost" },
    });
    expect(JSON.parse(String(question?.body))).toEqual({ from: "127.0.3.5", to: https });
    await ask(http, "127.0.3.6");
    expect(questionsOf("127.0.3.6")[0]?.headers).not.toHaveProperty("x-cn");
  });

  it("is asked once per connection, and not about those that rules deny", async () => {
    const socket = connect({ port: http, host: "127.0.0.1", localAddress: "127.0.3.7" });
    const kept = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    socket.write(kept + kept + request);
    expect((await text(socket)).match(/passed on/g)).toHaveLength(3);
    expect(questionsOf("127.0.3.7")).toHaveLength(1);
    expect(await ask(http, "127.0.3.9")).toBe("");
    expect(questionsOf("127.0.3.9")).toEqual([]);
  });

  it("lets everybody in while it fails, with failureMode: allow", async () => {
    expect(await ask(lenient, BROKEN)).toEqual(answered);
    expect(await ask(lenient, DENIED)).toBe("");
  });

  it("is not asked again about a client with a cached verdict", async () => {
    const asked = (address: string) => questionsOf(address).length;
    for (const address of ["127.0.3.20", DENIED]) {
      await ask(lenient, address);
      const before = asked(address);
      await Promise.all([ask(lenient, address), ask(lenient, address)]);
      expect(asked(address)).toBe(before);
    }
    // Failures are not cached.
    const before = asked(BROKEN);
    await ask(lenient, BROKEN);
    expect(asked(BROKEN)).toBe(before + 1);
  });

  it("has failed after the timeout of its policies", async () => {
    expect(await ask(hasty, STALLED)).toBe("");
    await eventually(() => (givenUp === stalled ? true : null), "the end of the question");
  });

  it("does not hold up others, and is given up for clients that leave", async () => {
    const [before, left] = [stalled, givenUp];
    const waiting = Array.from({ length: 200 }, () => {
      const socket = connect({ port: http, host: "127.0.0.1", localAddress: STALLED });
      socket.on("error", () => {});
      socket.write(request);
      return socket;
    });
    await eventually(() => (stalled - before === 200 ? true : null), "200 questions");
    expect(await ask(http, ALLOWED)).toEqual(answered);
    for (const socket of waiting) socket.resetAndDestroy();
    await eventually(() => (givenUp - left === 200 ? true : null), "200 aborted questions");
    expect(await ask(http, ALLOWED)).toEqual(answered);
  });

  it("is named in the log and counted", async () => {
    await ask(tcp, DENIED);
    await closed.seen(/networkExtAuthz: 127\.0\.0\.1:\d+ denied: status 403/);
    const stats = await fetch(`http://127.0.0.1:${await closed.statsPort()}/metrics`);
    const metrics = await stats.text();
    for (const result of ["ok", "denied", "failed"])
      expect(metrics).toMatch(
        new RegExp(
          `^gwc_callouts_total\\{kind="networkExtAuthz",.*result="${result}"\\} [1-9]`,
          "m",
        ),
      );
    expect(metrics).toMatch(/^gwc_connections_denied_total [1-9]\d*$/m);
  });

  it("closes connections that wait when the gateway ends", async () => {
    const socket = connect({ port: lenient, host: "127.0.0.1", localAddress: STALLED });
    const before = stalled;
    const end = text(socket).catch(() => "");
    await eventually(() => (stalled > before ? true : null), "a question");
    // The question itself would take longer than a test may.
    await open.stop();
    expect(await end).toBe("");
  });
});

describe("mistakes in networkExtAuthz", () => {
  const findings = (networkExtAuthz: object) => {
    const routes = [{ policies: { directResponse: { status: 200 } } }];
    const config = {
      frontendPolicies: { networkExtAuthz },
      binds: [{ port: 8080, listeners: [{ routes }] }],
    };
    const host = memoryHost({ "gateway.yaml": JSON.stringify(config) });
    const { diagnostics } = checkFiles(["gateway.yaml"], host, { name: "t", isStrict: false });
    return diagnostics.map(({ code, at }) => `${code} ${at.path.slice(2).join(".")}`);
  };
  const at = { host: "127.0.0.1:1" };
  const http = (more: object) => ({ ...at, protocol: { http: more } });

  it("are reported at their fields", () => {
    expect(findings(http({ path: '"/" + source.address' }))).toEqual([]);
    expect(findings(at)).toEqual(["missing-field "]);
    expect(findings({ ...at, protocol: { grpc: {} } })).toContain("unknown-field protocol.grpc");
    expect(findings({ ...http({}), failureMode: { denyWithStatus: 401 } })).not.toEqual([]);
    expect(findings({ ...http({}), includeRequestBody: {} })).not.toEqual([]);
    const place = "protocol.http";
    expect(findings(http({ path: "request.path" }))).toEqual([`needs-source ${place}.path`]);
    expect(findings(http({ body: "jwt.sub" }))).toContain(`needs-source ${place}.body`);
    expect(findings(http({ addRequestHeaders: { "x-a": "request.method" } }))).toEqual([
      `needs-source ${place}.addRequestHeaders.x-a`,
    ]);
    expect(findings(http({ path: "1" }))).toEqual([`cel-wrong-result ${place}.path`]);
    const cached = (key: string, ttl: string) => ({ ...http({}), cache: { key: [key], ttl } });
    expect(findings(cached("source.address", "1m"))).toEqual([]);
    expect(findings(cached("request.host", "1m"))).toContain("needs-source cache.key.0");
    expect(findings(cached('"all"', "1m"))).toEqual(["shared-verdict cache.key"]);
  });
});

describe("gwc, of a server that is asked about connections", () => {
  const file = (frontend: string) => `${frontend}
gateways: { default: { port: 8080 } }
routes: [{ name: web, backends: [{ host: "127.0.0.1:1" }] }]
`;
  const here = temporaryFolder({
    "open.yaml": file(""),
    "asked.yaml": file(
      "frontendPolicies: { networkExtAuthz: { host: authz.test:80, protocol: { http: {} } } }",
    ),
  });
  const said = async (...parameters: readonly string[]) =>
    (await gwc(parameters, { cwd: here })).stdout;

  it("reports in a diff that it closes a route", async () => {
    expect(await said("diff", "open.yaml", "asked.yaml")).toMatch(
      /CLOSES +listener :8080 +extAuthz added/,
    );
    expect(await said("diff", "asked.yaml", "open.yaml")).toMatch(
      /OPENS +listener :8080 +extAuthz removed/,
    );
  });

  it("says that it decides who may send a request", async () => {
    const can = await said("can", "GET", "http://localhost:8080/", "-f", "asked.yaml");
    expect(can).toContain("an authorization server decides");
    expect(await said("explain", "GET", "http://localhost:8080/", "-f", "asked.yaml")).toContain(
      "extAuthz",
    );
  });
});
