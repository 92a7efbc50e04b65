import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { beforeAll, describe, expect, it } from "vitest";
import { startEcho } from "../harness/echo.ts";
import { CLIENT_SECRET, startLoginProvider } from "../harness/login-provider.ts";
import { RedisServer } from "../harness/redis.ts";
import { type ResourceProvider, startResourceProvider } from "../harness/resource-provider.ts";
import { send } from "../harness/send.ts";
import { UserAgent } from "../harness/user-agent.ts";
import { textOf } from "../policies/connection-world.ts";
import { AgentWorld, type WorldGeneration } from "./agent-world.ts";
import { checkManifests } from "./manifests.ts";

/** A tenant of the test. */
interface Tenant {
  readonly namespace: string;
  readonly base: string;
  readonly issuer: string;
  readonly users: Pick<ResourceProvider, "resource">;
  /** Address of its page, and the page whose connections its servers use; below its namespace by default. */
  readonly own?: string;
  readonly page?: string;
  /** Fields of its server on the page. */
  readonly server?: object;
}

const API = "gateway.networking.k8s.io/v1";
const OWN = "gwc.dev/v1alpha1";
const ROUTE = { group: "gateway.networking.k8s.io", kind: "HTTPRoute" };

/** The page of a tenant, its MCP server behind `/NAMESPACE/tools`, and its HTTP server behind `/NAMESPACE/site`. */
function tenantObjects({ namespace, base, issuer, users, server, ...given }: Tenant) {
  const { own = `${base}/${namespace}/connect`, page = own } = given;
  const { hostname: host, port: text } = new URL(users.resource);
  const port = Number(text);
  const object = (kind: string, name: string, spec: object) => ({
    apiVersion: kind === "HTTPRoute" ? API : OWN,
    ...{ kind, metadata: { name, namespace }, spec },
  });
  const route = (name: string, backendRefs: readonly object[]) => {
    const value = `/${namespace}/${name}`;
    const path = { type: "ReplacePrefixMatch", replacePrefixMatch: "/api" };
    const rule = {
      matches: [{ path: { type: "PathPrefix", value } }],
      ...(backendRefs.length > 0 && { backendRefs }),
      ...(name === "site" && { filters: [{ type: "URLRewrite", urlRewrite: { path } }] }),
    };
    const parentRefs = [{ name: "front", namespace: "default" }];
    return object("HTTPRoute", name, { parentRefs, rules: [rule] });
  };
  const policy = (name: string, traffic: object) =>
    object("GatewayPolicy", name, { targetRefs: [{ ...ROUTE, name }], traffic });
  const backend = (name: string) => [{ group: "gwc.dev", kind: "GatewayBackend", name }];
  const jwks = { remote: { url: `${issuer}/jwks` } };
  const jwtAuthentication = { providers: [{ issuer, audiences: ["token"], jwks }] };
  const auth = { oauth: { connection: "users", page } };
  const redirectURI = `${base}/${namespace}/connect/login`;
  const oidc = { issuer, clientId: namespace, clientSecretRef: { name: "login" }, redirectURI };
  const servers = [{ name: "users", resource: users.resource, ...server }];
  return [
    route("connect", []),
    route("tools", backend("tools")),
    route("site", backend("site")),
    policy("connect", { oidc, userConnections: { url: own, servers } }),
    policy("tools", { jwtAuthentication }),
    policy("site", { jwtAuthentication }),
    object("GatewayBackend", "tools", {
      mcp: {
        targets: [{ name: "users", static: { host, port, path: "/mcp", policies: { auth } } }],
      },
    }),
    object("GatewayBackend", "site", { static: { host, port }, policies: { auth } }),
  ];
}

interface Person {
  readonly name: string;
  readonly agent: UserAgent;
  readonly authorization: string;
}

/** Logs in with a browser, and gets a token for programs. */
async function person(base: string, name: string): Promise<Person> {
  const agent = new UserAgent();
  const { body } = await agent.logIn(`${base}/token`, name);
  const { headers } = JSON.parse(body) as { headers: Record<string, string> };
  return { name, agent, authorization: headers.authorization ?? "" };
}

async function connectAccount({ agent, name }: Person, page: string) {
  const headers = {
    "content-type": "application/x-www-form-urlencoded",
    origin: new URL(page).origin,
  };
  await agent.open(`${page}/users`);
  const there = await agent.open(`${page}/users`, {
    method: "POST",
    headers,
    body: "action=connect",
  });
  return there.url.startsWith(page) ? there : agent.submit(there, name);
}

async function whoAmI(url: string, { authorization }: Person): Promise<string> {
  const client = new Client({ name: "test", version: "1.0.0" });
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { authorization } },
  });
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  const found = textOf(await client.callTool({ name: "whoami" }));
  await client.close();
  return found;
}

const site = (base: string, namespace: string, { authorization }: Person) =>
  send(`${base}/${namespace}/site/echo`, "GET", { authorization });

const tenantNames = ["red", "blue"] as const;

describe("connections of tenants in a data plane", () => {
  let world: AgentWorld;
  let base: string;
  let users: ResourceProvider;
  let redis: RedisServer;
  let generation: (blue: Partial<Tenant>) => WorldGeneration;

  beforeAll(async () => {
    redis = await RedisServer.start();
    users = await startResourceProvider();
    const echo = await startEcho();
    world = await AgentWorld.start({ routes: {} });
    await world.startAgent(2);
    base = `http://127.0.0.1:${world.port}`;
    const { issuer } = await startLoginProvider(() => [
      { id: "token", redirectUri: `${base}/token/login` },
      ...tenantNames.map((id) => ({ id, redirectUri: `${base}/${id}/connect/login` })),
    ]);
    const oidc = {
      ...{ issuer, clientId: "token", clientSecretRef: { name: "login" } },
      redirectURI: `${base}/token/login`,
    };
    const token = [
      {
        ...{ apiVersion: OWN, kind: "GatewayPolicy" },
        metadata: { name: "token", namespace: "default" },
        spec: { targetRefs: [{ ...ROUTE, name: "token" }], traffic: { oidc } },
      },
      {
        ...{ apiVersion: OWN, kind: "GatewayPolicy" },
        metadata: { name: "echo", namespace: "default" },
        spec: {
          targetRefs: [{ group: "gwc.dev", kind: "GatewayBackend", name: "token" }],
          backend: { auth: { passthrough: {} } },
        },
      },
    ];
    generation = (blue) => ({
      routes: { token: { server: new URL(echo.url).host } },
      config: { store: { redis: { url: redis.url } } },
      objects: [
        ...token,
        ...tenantObjects({ namespace: "red", base, issuer, users }),
        ...tenantObjects({ namespace: "blue", base, issuer, users, ...blue }),
      ],
      secrets: {
        login: { clientSecret: CLIENT_SECRET },
        "login@red": { clientSecret: CLIENT_SECRET },
        "login@blue": { clientSecret: CLIENT_SECRET },
        "client@blue": { clientSecret: "blue's secret" },
      },
    });
    expect(await world.push(generation({}))).toBeUndefined();
  });

  it("belong to the tenant on whose page the user connected", async () => {
    const ann = await person(base, "ann");
    expect(await whoAmI(`${base}/red/tools`, ann)).toContain(`${base}/red/connect/users`);
    expect(await connectAccount(ann, `${base}/red/connect`)).toMatchObject({ status: 200 });
    expect(await whoAmI(`${base}/red/tools`, ann)).toBe("ann");
    expect(JSON.parse((await site(base, "red", ann)).body)).toMatchObject({ user: "ann" });
    expect(await whoAmI(`${base}/blue/tools`, ann)).toContain(`${base}/blue/connect/users`);
    expect((await site(base, "blue", ann)).status).toBe(403);
    expect(await connectAccount(ann, `${base}/blue/connect`)).toMatchObject({ status: 200 });
    expect(await whoAmI(`${base}/blue/tools`, ann)).toBe("ann");
    // Each tenant has a client of its own at the server.
    expect(users.registered).toHaveLength(2);
  });

  it("are closed for a tenant that names another one's page, and for nobody else", async () => {
    const bob = await person(base, "bob");
    await connectAccount(bob, `${base}/red/connect`);
    const page = `${base}/red/connect`;
    expect(await world.push(generation({ page }))).toBeUndefined();
    expect(await whoAmI(`${base}/red/tools`, bob)).toBe("bob");
    expect((await site(base, "blue", bob)).status).toBe(500);
    const said = world.statuses.filter(({ key }) => key.startsWith("blue/"));
    expect(JSON.stringify(said)).toContain("no route offers the connection");
    await world.push(generation({}));
  });

  it("have the client in a Secret of the tenant", async () => {
    const cal = await person(base, "cal");
    const server = { issuer: users.issuer, clientId: "blue", clientSecretRef: { name: "client" } };
    users.registered.length = 0;
    expect(await world.push(generation({ server }))).toBeUndefined();
    const { agent } = cal;
    const page = `${base}/blue/connect/users`;
    const headers = { "content-type": "application/x-www-form-urlencoded", origin: base };
    const begun = await agent.open(page);
    expect(begun.status).toBe(200);
    const sent = await agent.ask(page, { method: "POST", headers, body: "action=connect" });
    const { searchParams } = new URL(sent.location ?? "");
    expect(searchParams.get("client_id")).toBe("blue");
    expect(users.registered).toEqual([]);
    await world.push(generation({}));
  });

  it("survive a tenant with a page of the same address", async () => {
    const dan = await person(base, "dan");
    await connectAccount(dan, `${base}/red/connect`);
    expect(await whoAmI(`${base}/red/tools`, dan)).toBe("dan");
    expect(await world.push(generation({ own: `${base}/red/connect` }))).toBeUndefined();
    expect(await whoAmI(`${base}/red/tools`, dan)).toBe("dan");
    // Its servers ask for connections of its own page, which has the tenant's own tokens: none.
    expect(await whoAmI(`${base}/blue/tools`, dan)).toContain("/red/connect/users");
    expect((await site(base, "blue", dan)).status).toBe(403);
    await world.push(generation({}));
  });
});

it("manifests are checked as files are", () => {
  const issuer = "https://login.example.com";
  const users = { resource: "https://mcp.example.com:8443/mcp" };
  const base = "https://tools.example.com";
  const objects = (more: Partial<Tenant>) => {
    const secret = { apiVersion: "v1", kind: "Secret", data: { clientSecret: "eA==" } };
    const all = [
      ...tenantObjects({ namespace: "red", base, issuer, users, ...more }),
      { ...secret, metadata: { name: "login", namespace: "red" } },
    ];
    return Object.fromEntries(
      [...all, ...front].map((each, index) => [`${index}.yaml`, JSON.stringify(each)]),
    );
  };
  const codes = (more: Partial<Tenant>) =>
    checkManifests(objects(more), { isDelivered: true }).diagnostics.map(({ code }) => code);
  expect(codes({})).toEqual(["store-of-pods"]);
  expect(codes({ page: `${base}/blue/connect` })).toContain("unknown-connection");
  expect(codes({ server: { clientSecretRef: { name: "login" } } })).toContain("broken-rule");
  expect(codes({ server: { clientId: "x", clientSecretRef: { name: "none" } } })).toContain(
    "missing-secret",
  );
});

const front = [
  {
    ...{ apiVersion: API, kind: "GatewayClass", metadata: { name: "gwc" } },
    spec: { controllerName: "gwc.dev/gateway" },
  },
  {
    ...{ apiVersion: API, kind: "Gateway", metadata: { name: "front", namespace: "default" } },
    spec: {
      gatewayClassName: "gwc",
      listeners: [
        {
          name: "http",
          port: 8080,
          protocol: "HTTP",
          allowedRoutes: { namespaces: { from: "All" } },
        },
      ],
    },
  },
];
