import { createServer, request as requestSecure } from "node:https";
import { connect, type TLSSocket } from "node:tls";
import { beforeAll, expect, it, onTestFinished } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { freePorts } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { type IssuedPair, OpensslAuthority } from "../harness/openssl-authority.ts";
import { refusals } from "../harness/refusals.ts";
import { send } from "../harness/send.ts";
import { WorkloadAgent } from "../harness/workload-agent.ts";

const GATEWAY = "spiffe://example.org/gateway";
const SHOP = "spiffe://example.org/shop";

/** Names of servers, with those in their certificates; a stranger's is signed by an authority of another trust domain. */
const SERVERS = {
  shop: `URI:${SHOP}`,
  other: "URI:spiffe://example.org/other",
  elsewhere: "URI:spiffe://else.where/shop",
  twofold: `URI:${SHOP},URI:spiffe://example.org/other`,
  nameless: "DNS:localhost",
  stranger: `URI:${SHOP}`,
};

let authority: OpensslAuthority;
let strangers: OpensslAuthority;
const ports: Record<string, number> = {};
/** Serial numbers of the certificates that clients of these servers have shown. */
const shown: string[] = [];

beforeAll(async () => {
  authority = new OpensslAuthority();
  strangers = new OpensslAuthority();
  for (const [name, names] of Object.entries(SERVERS)) {
    const signer = name === "stranger" ? strangers : authority;
    ports[name] = await startServer(await signer.issue(names));
  }
});

/** Starts a server of the trust domain that responds with the names of its client. */
async function startServer({ cert, key }: IssuedPair): Promise<number> {
  const options = { cert, key, ca: authority.rootText, requestCert: true };
  const server = createServer(options);
  server.on("secureConnection", (socket: TLSSocket) =>
    shown.push(socket.getPeerCertificate().serialNumber),
  );
  server.on("request", (request, response) =>
    response.end((request.socket as TLSSocket).getPeerCertificate().subjectaltname),
  );
  return listen(server);
}

async function identity(seconds?: number, spiffeId = GATEWAY) {
  return { spiffeId, ...(await authority.issue(`URI:${spiffeId}`, seconds)) };
}

/** A gateway with a plain port in front of the servers, and a port that serves its identity. */
interface IdentifiedGateway {
  readonly gateway: Gateway;
  /** Returns the status and the body of a request to a server. */
  readonly ask: (server: string) => Promise<string>;
  readonly securePort: number;
  readonly isReady: () => Promise<boolean>;
}

async function startWithIdentity(agent: WorkloadAgent): Promise<IdentifiedGateway> {
  const [plain = 0, secure = 0] = await freePorts(2);
  const route = (path: string, server: string, backendTLS: object) => ({
    matches: [{ path: { exact: path } }],
    policies: { backendTLS },
    backends: [{ host: `localhost:${ports[server]}` }],
  });
  const any = Object.keys(SERVERS).map((name) => route(`/${name}`, name, { spiffe: {} }));
  const named = { spiffe: {}, subjectAltNames: [SHOP] };
  const gateway = await startGateway({
    config: {
      config: { spiffe: { endpoint: agent.endpoint } },
      binds: [
        {
          port: plain,
          listeners: [
            {
              routes: [
                ...any,
                route("/named-shop", "shop", named),
                route("/named-other", "other", named),
              ],
            },
          ],
        },
        {
          port: secure,
          listeners: [
            {
              protocol: "HTTPS",
              tls: { spiffe: {} },
              routes: [
                {
                  policies: {
                    authorization: { rules: ['source.spiffeId.startsWith("spiffe://")'] },
                    directResponse: { status: 200, bodyExpression: "source.spiffeId" },
                  },
                },
              ],
            },
          ],
        },
      ],
    },
  });
  const readiness = await gateway.readinessPort();
  const statusOf = (url: string) => send(url, "GET");
  return {
    gateway,
    securePort: secure,
    ask: async (server) => {
      const { status, body } = await statusOf(`http://127.0.0.1:${plain}/${server}`);
      return status === 200 ? body : String(status);
    },
    isReady: async () => {
      return (await statusOf(`http://127.0.0.1:${readiness}/healthz/ready`)).status === 200;
    },
  };
}

async function ready(agent: WorkloadAgent): Promise<IdentifiedGateway> {
  const started = await startWithIdentity(agent);
  await started.gateway.seen(/identity spiffe:\S+ is valid until/);
  return started;
}

/** Requests the port that serves the identity; resolves with the body, or rejects if the handshake fails. */
function askSecure(port: number, client: Partial<IssuedPair>): Promise<string> {
  return new Promise((resolve, reject) => {
    const { cert, key } = client;
    const options = { port, host: "127.0.0.1", cert, key, rejectUnauthorized: false, agent: false };
    requestSecure(options, (response) => {
      let body = "";
      response.on("data", (chunk) => {
        body += chunk;
      });
      response.on("end", () => resolve(body));
    })
      .on("error", reject)
      .end();
  });
}

it("backends get the gateway's identity, and must be workloads of its trust domain", async () => {
  const agent = await new WorkloadAgent().start();
  agent.push(await identity());
  const { ask } = await ready(agent);
  expect(await ask("shop")).toBe(`URI:${GATEWAY}`);
  expect(await ask("other")).toBe(`URI:${GATEWAY}`);
  expect(await ask("named-shop")).toBe(`URI:${GATEWAY}`);
  for (const server of ["named-other", "elsewhere", "twofold", "nameless", "stranger"])
    expect(await ask(server), server).toBe("503");
});

it("listeners serve the gateway's identity to workloads of its trust domain", async () => {
  const agent = await new WorkloadAgent().start();
  agent.push(await identity());
  const { gateway, securePort } = await ready(agent);
  const issue = (names: string, seconds?: number) => authority.issue(names, seconds);
  expect(await askSecure(securePort, await issue("URI:spiffe://example.org/a/b"))).toBe(
    "spiffe://example.org/a/b",
  );
  const refused = [
    {},
    await issue("URI:spiffe://else.where/a"),
    await issue("URI:spiffe://example.org.else.where/a"),
    await issue("DNS:a"),
    await issue("URI:spiffe://example.org/a", -1),
    await strangers.issue("URI:spiffe://example.org/a"),
  ];
  for (const client of refused) await expect(askSecure(securePort, client)).rejects.toThrow();
  expect(gateway.output).not.toContain("PRIVATE KEY");
});

it("a renewed identity is used by new connections, and open ones stay", async () => {
  const agent = await new WorkloadAgent().start();
  agent.push(await identity());
  const { gateway, ask, securePort } = await ready(agent);
  const client = await authority.issue("URI:spiffe://example.org/client");
  const open = connect({ port: securePort, ...client, rejectUnauthorized: false });
  onTestFinished(() => void open.destroy());
  await new Promise((resolve) => open.once("secureConnect", resolve));
  const before = open.getPeerCertificate().subjectaltname;
  expect(before).toBe(`URI:${GATEWAY}`);
  let renewed = "";
  const [former, pooled] = await eventually(async () => {
    const own = await ask("shop");
    const [from, connections] = [gateway.output.length, shown.length];
    renewed = `spiffe://example.org/renewed-${connections}`;
    agent.push(await identity(undefined, renewed));
    await gateway.seen(new RegExp(`identity ${renewed} is valid`), from);
    const after = await ask("shop");
    // A gateway that was paused meanwhile has closed its pooled connections.
    return shown.length === connections ? [own, after] : null;
  }, "a pooled connection that is used again");
  expect(pooled).toBe(former);
  expect(pooled).not.toBe(`URI:${renewed}`);
  expect(await ask("other")).toBe(`URI:${renewed}`);
  open.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  const response = await new Promise((resolve) => open.once("data", resolve));
  expect(String(response)).toContain("spiffe://example.org/client");
  const later = connect({ port: securePort, ...client, rejectUnauthorized: false });
  onTestFinished(() => void later.destroy());
  await new Promise((resolve) => later.once("secureConnect", resolve));
  expect(later.getPeerCertificate().subjectaltname).toBe(`URI:${renewed}`);
});

it("without an agent, only what needs the identity is refused, until there is one", async () => {
  const agent = new WorkloadAgent();
  const { gateway, ask, securePort, isReady } = await startWithIdentity(agent);
  await gateway.seen(/waiting for an identity of the SPIFFE Workload API at unix:/);
  await gateway.seen(/can't be used: .*; retrying; what needs it is refused/);
  expect(await isReady()).toBe(false);
  expect(await ask("shop")).toBe("503");
  await gateway.seen(/there is no identity of the SPIFFE Workload API yet/);
  const client = await authority.issue("URI:spiffe://example.org/client");
  await expect(askSecure(securePort, client)).rejects.toThrow();
  agent.push(await identity());
  await agent.start();
  await gateway.seen(/identity spiffe:\S+ is valid until/);
  expect(await ask("shop")).toBe(`URI:${GATEWAY}`);
  expect(await askSecure(securePort, client)).toBe("spiffe://example.org/client");
  expect(await isReady()).toBe(true);
});

it("an identity stays in use without its agent, until it expires", async () => {
  const agent = await new WorkloadAgent().start();
  agent.push(await identity());
  const { gateway, ask, securePort, isReady } = await ready(agent);
  const client = await authority.issue("URI:spiffe://example.org/client");
  agent.stop();
  await gateway.seen(/spiffe:\/\/example\.org\/gateway stays in use until/);
  expect(await ask("shop")).toBe(`URI:${GATEWAY}`);
  expect(await askSecure(securePort, client)).toBe("spiffe://example.org/client");
  const from = gateway.output.length;
  agent.push(await identity(5));
  await agent.start();
  await gateway.seen(/identity spiffe:\S+ is valid until/, from);
  agent.stop();
  await gateway.seen(/the identity spiffe:\/\/example\.org\/gateway has expired/);
  expect(await ask("other")).toBe("503");
  await expect(askSecure(securePort, client)).rejects.toThrow();
  // It was ready once: load balancers must not take out every gateway because agents are restarted.
  expect(await isReady()).toBe(true);
  agent.push(await identity());
  await agent.start();
  await eventually(
    async () => ((await ask("other")) === `URI:${GATEWAY}` ? true : null),
    "the new identity",
  );
});

it("an identity that the agent takes back is not used any more", async () => {
  const agent = await new WorkloadAgent().start();
  agent.push(await identity());
  const { gateway, ask } = await ready(agent);
  agent.deny();
  await gateway.seen(/has no identity for this process: no identity issued; retrying; what needs/);
  expect(await ask("shop")).toBe("503");
});

it("an identity that cannot be used is reported, and the previous one stays", async () => {
  const agent = await new WorkloadAgent().start();
  agent.push(await identity());
  const { gateway, ask } = await ready(agent);
  const other = await identity(undefined, "spiffe://example.org/other");
  const unusable = [
    [{ ...other, spiffeId: GATEWAY }, "its certificate is for another SPIFFE ID"],
    [{ ...other, spiffeId: "spiffe://example.org" }, "its SPIFFE ID is malformed"],
    [{ ...other, key: (await identity()).key }, "its key belongs to another certificate"],
    [await identity(-1), "its certificate has expired"],
  ] as const;
  for (const [pushed, problem] of unusable) {
    agent.push(pushed);
    await gateway.seen(new RegExp(`${problem}; retrying; spiffe://example.org/gateway stays`));
  }
  expect(await ask("shop")).toBe(`URI:${GATEWAY}`);
});

it("forwarded connections use the identity on both sides", async () => {
  const agent = await new WorkloadAgent().start();
  agent.push(await identity());
  const [port = 0] = await freePorts(1);
  const gateway = await startGateway({
    config: {
      config: { spiffe: { endpoint: agent.endpoint } },
      binds: [
        {
          port,
          listeners: [
            {
              protocol: "TLS",
              tls: { spiffe: {} },
              tcpRoutes: [
                {
                  policies: { backendTLS: { spiffe: {}, subjectAltNames: [SHOP] } },
                  backends: [{ host: `localhost:${ports.shop}` }],
                },
              ],
            },
          ],
        },
      ],
    },
  });
  await gateway.seen(/identity spiffe:\S+ is valid until/);
  const client = await authority.issue("URI:spiffe://example.org/client");
  expect(await askSecure(port, client)).toBe(`URI:${GATEWAY}`);
  await expect(
    askSecure(port, await authority.issue("URI:spiffe://else.where/a")),
  ).rejects.toThrow();
});

it("settings that contradict each other, and an identity without a source, are refused at build", () => {
  const of = (tls: object, backendTLS: object, config: object = SOURCE) =>
    refusals({
      listeners: [
        {
          protocol: "HTTPS",
          tls,
          routes: [{ policies: { backendTLS }, backends: [{ host: "localhost:1" }] }],
        },
      ],
      file: config,
    });
  const spiffe = {};
  expect(of({ spiffe }, { spiffe }, {})).toEqual([
    "spiffe-without-source",
    "spiffe-without-source",
  ]);
  expect(of({ spiffe, root: "ca.pem" }, { spiffe })).toEqual(["broken-rule"]);
  expect(of({ spiffe }, { spiffe, insecure: true })).toEqual(["broken-rule"]);
  expect(of({ spiffe }, { spiffe }, { config: { spiffe: { endpoint: "run/a.sock" } } })).toEqual([
    "bad-format",
  ]);
});

const SOURCE = { config: { spiffe: { endpoint: "unix:///run/agent.sock" } } };
