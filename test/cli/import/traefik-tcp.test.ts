import { expect, it } from "vitest";
import { freePorts } from "../../harness/free-port.ts";
import { startGateway } from "../../harness/gateway.ts";
import { RawClient } from "../../harness/raw-client.ts";
import { startTcpServer } from "../../harness/tcp-server.ts";
import { imported, mistakes } from "./imported.ts";

const file = (routers: string, services = "", more = "") => `entryPoints:
  web: { address: ":80" }
  db: { address: "127.0.0.1:5432" }
  tls: { address: ":8443" }
tcp:
  routers: {${routers}}
  middlewares:
    office: { ipAllowList: { sourceRange: [127.0.0.0/8] } }
    out: { ipAllowList: { sourceRange: [10.0.0.0/8] } }
  services:
    app: { loadBalancer: { servers: [{ address: "10.0.0.1:5432" }] } }
    ${services}
${more}`;

it("a file with TCP routers only becomes TCP routes with the same rules", async () => {
  const server = await startTcpServer((socket) => socket.on("data", (data) => socket.write(data)));
  const [open = 0, closed = 0] = await freePorts(2);
  const text = `entryPoints:
  open: { address: ":${open}" }
  closed: { address: ":${closed}" }
tcp:
  routers:
    open: { entryPoints: [open], rule: "HostSNI(\`*\`)", service: app, middlewares: [office] }
    closed: { entryPoints: [closed], rule: "HostSNI(\`*\`)", service: app, middlewares: [out] }
  middlewares:
    office: { ipAllowList: { sourceRange: [127.0.0.0/8] } }
    out: { ipAllowList: { sourceRange: [10.0.0.0/8] } }
  services:
    app: { loadBalancer: { servers: [{ address: "127.0.0.1:${server.port}" }] } }
`;
  const { code, stdout } = await imported({ "traefik.yaml": text });
  expect(code).toBe(0);
  await startGateway({ config: stdout });
  const clients = [open, closed].map((port) => new RawClient(port));
  for (const client of clients) client.send("hello");
  await clients[0]?.receives("hello");
  await clients[1]?.closes();
  expect(clients.map(({ received }) => received)).toEqual(["hello", ""]);
});

it("server names, ended and forwarded TLS and weights become listeners and backends", async () => {
  const routers = `
    one: { entryPoints: [tls], rule: "HostSNI(\`a.test\`) || HostSNI(\`b.test\`)", service: both, tls: { passthrough: true } },
    two: { entryPoints: [tls], rule: "HostSNI(\`c.test\`)", service: app, tls: {} }`;
  const services = `other: { loadBalancer: { servers: [{ address: "10.0.0.2:5432" }] } }
    both: { weighted: { services: [{ name: app, weight: 3 }, { name: other, weight: 1 }] } }`;
  const { stdout, value } = await imported({ "traefik.yaml": file(routers, services) });
  const listeners = value.binds[0].listeners;
  expect(
    listeners.map(({ hostname, protocol, tls }: Record<string, unknown>) => [
      hostname,
      protocol,
      tls !== undefined,
    ]),
  ).toEqual([
    ["a.test", "TLS", false],
    ["b.test", "TLS", false],
    ["c.test", "TLS", true],
  ]);
  expect(listeners[0].tcpRoutes[0].backends).toEqual([
    { host: "10.0.0.1:5432", weight: 3 },
    { host: "10.0.0.2:5432", weight: 1 },
  ]);
  expect(mistakes(stdout)).toEqual([]);
});

it.each([
  ["a rule", "HostSNIRegexp(`.*`)", "service: app", "the rule HostSNIRegexp"],
  ["a name without TLS", "HostSNI(`a.test`)", "service: app", "has no server name"],
  [
    "client certificates",
    "HostSNI(`a.test`)",
    "service: app, tls: { options: strict }",
    "tls.options",
  ],
  ["a middleware", "HostSNI(`*`)", "service: app, middlewares: [few]", "the middleware few"],
  ["a header for servers", "HostSNI(`*`)", "service: proxied", "proxyProtocol"],
  ["a missing service", "HostSNI(`*`)", "service: none", "no load balancer none"],
])(
  "a router with %s that cannot be converted closes its port for all",
  async (_, rule, more, why) => {
    const routers = `
    lost: { entryPoints: [db], rule: "${rule}", ${more} },
    all: { entryPoints: [db], rule: "HostSNI(\`*\`)", service: app },
    kept: { entryPoints: [tls], rule: "HostSNI(\`*\`)", service: app }`;
    const services = `proxied: { loadBalancer: { proxyProtocol: {}, servers: [{ address: "10.0.0.1:1" }] } }`;
    const { code, stdout, value } = await imported({ "traefik.yaml": file(routers, services) });
    expect(code).toBe(1);
    expect(stdout).toMatch(/DECIDE: line \d+: TCP router lost: .*nothing listens for TCP there/);
    expect(stdout).toContain(why);
    expect(value.binds.map(({ port }: { readonly port: number }) => port)).toEqual([8443]);
  },
);

it("a port for HTTP and TCP serves HTTP only", async () => {
  const routers = `
    db: { entryPoints: [web], rule: "HostSNI(\`*\`)", service: app }`;
  const http = `http:
  routers: { a: { entryPoints: [web], rule: "Path(\`/a\`)", service: a } }
  services: { a: { loadBalancer: { servers: [{ url: "http://10.0.0.9:80" }] } } }
`;
  const { stdout, value } = await imported({ "traefik.yaml": file(routers, "", http) });
  expect(stdout).toContain(
    "entry point web has routers for HTTP, too; nothing listens for TCP there",
  );
  expect(value.binds).toHaveLength(1);
  expect(value.binds[0].listeners[0].routes).toHaveLength(1);
});
