import { createServer, request as httpRequest } from "node:http";
import path from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { startEcho } from "../harness/echo.ts";
import { freePorts } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import {
  CLIENT_SECRET,
  type LoginProvider,
  startLoginProvider,
} from "../harness/login-provider.ts";
import {
  type ResourceProvider,
  type ResourceProviderOptions,
  startResourceProvider,
} from "../harness/resource-provider.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { type Page, UserAgent } from "../harness/user-agent.ts";
import { connectStateless } from "../mcp/stateless-client.ts";

/** A person with a browser, and the token of the person's programs. */
export interface Person {
  readonly name: string;
  readonly agent: UserAgent;
  readonly authorization: string;
}

/** Path at which the provider of logins announces logouts. */
export const BACK_CHANNEL = "/connect/ended-by-provider";

/** Settings of a world. */
export interface ConnectionWorldOptions {
  /** Number of processes of the gateway behind one address; 1 by default. */
  readonly replicas?: number;
  /** URL of the store; a file by default. */
  readonly redis?: string;
  /** The second server with accounts. */
  readonly second?: ResourceProviderOptions;
}

/**
 * A gateway on whose page people connect their accounts at two real servers, with routes for MCP (`tools`, `brief`, `both`), for
 * an API as tools (`api`), and for forwarded requests of programs (`site`, `second`) and browsers (`portal`).
 */
export class ConnectionWorld {
  /** Address of the gateway. */
  readonly base: string;
  /** The provider of logins. */
  readonly login: LoginProvider;
  readonly users: ResourceProvider;
  readonly brief: ResourceProvider;
  readonly stateDir: string = temporaryFolder({});
  readonly auditFile: string = path.join(temporaryFolder({}), "audit.log");
  readonly gateways: Gateway[] = [];
  /** Which replica gets the next requests; a random one if `undefined`. */
  replica: number | undefined = 0;

  private constructor(
    base: string,
    login: LoginProvider,
    users: ResourceProvider,
    brief: ResourceProvider,
  ) {
    this.base = base;
    this.login = login;
    this.users = users;
    this.brief = brief;
  }

  static async start({
    replicas = 1,
    redis,
    second = { lifetime: 2 },
  }: ConnectionWorldOptions = {}) {
    const ports = await freePorts(replicas);
    const [users, brief] = await Promise.all([
      startResourceProvider(),
      startResourceProvider(second),
    ]);
    let world: ConnectionWorld | undefined;
    const front =
      replicas > 1 ? await startFront(() => ports[world?.choose() ?? 0] ?? 0) : ports[0];
    const base = `http://127.0.0.1:${front}`;
    const login = await startLoginProvider(() =>
      ["connect", "token", "portal"].map((id) => ({
        ...{ id, redirectUri: `${base}/${id}/login` },
        ...(id === "connect" && { backChannelUri: `${base}${BACK_CHANNEL}` }),
      })),
    );
    world = new ConnectionWorld(base, login, users, brief);
    const echo = await startEcho();
    for (const port of ports) {
      const config = world.#config(port, login.issuer, new URL(echo.url).host, redis);
      world.gateways.push(
        await startGateway({
          config,
          env: {
            SECRET: CLIENT_SECRET,
            SESSION_KEY: "5e".repeat(32),
            ...(redis === undefined ? { GWC_STATE_DIR: world.stateDir } : { REDIS_URL: redis }),
          },
        }),
      );
    }
    return world;
  }

  /** Returns the replica for a request. */
  choose(): number {
    return this.replica ?? Math.floor(Math.random() * this.gateways.length);
  }

  /** The logs of the gateways. */
  get output(): string {
    return this.gateways.map(({ output }) => output).join("");
  }

  /** A person who has logged in with a program. */
  async person(name: string): Promise<Person> {
    const agent = new UserAgent();
    const { body } = await agent.logIn(`${this.base}/token`, name);
    const { headers } = JSON.parse(body) as { headers: Record<string, string> };
    return { name, agent, authorization: headers.authorization ?? "" };
  }

  async connectClient(
    route: string,
    { authorization }: Person,
    capabilities: object = {},
  ): Promise<Client> {
    const client = new Client({ name: "test", version: "1.0.0" }, { capabilities });
    const requestInit = { headers: { authorization } };
    const url = new URL(`${this.base}/${route}`);
    const transport = new StreamableHTTPClientTransport(url, { requestInit });
    await client.connect(transport as Parameters<typeof client.connect>[0]);
    return client;
  }

  /** A form of the page. */
  form(action: string) {
    return {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", origin: this.base },
      body: `action=${action}`,
    };
  }

  /** Clicks on the page, and logs in at the server. */
  async connectAccount({ agent, name }: Person, connection: string): Promise<Page> {
    await agent.open(`${this.base}/connect/${connection}`);
    const there = await agent.open(`${this.base}/connect/${connection}`, this.form("connect"));
    return there.url.startsWith(this.base) ? there : agent.submit(there, name);
  }

  /** Clicks on the page to end a connection. */
  disconnect({ agent }: Person, connection: string): Promise<Page> {
    return agent.open(`${this.base}/connect/${connection}`, this.form("disconnect"));
  }

  /** Asks a server who the user is, in a session or without. Returns the name, or how to connect. */
  async whoAmI(
    route: string,
    someone: Person,
    { tool = "whoami", isStateless = false } = {},
  ): Promise<string> {
    const { authorization } = someone;
    const client = isStateless
      ? await connectStateless(`${this.base}/${route}`, {}, { authorization })
      : await this.connectClient(route, someone);
    const found = textOf(await client.callTool({ name: tool }));
    await client.close();
    return found;
  }

  #config(port: number, issuer: string, echo: string, redis: string | undefined): object {
    const { base, users, brief } = this;
    const page = `${base}/connect`;
    const oidc = (id: string) => ({
      ...{ issuer, clientId: id, clientSecret: "${SECRET}" },
      redirectURI: `${base}/${id}/login`,
    });
    const me = { operationId: "me", responses: { 200: { description: "The user." } } };
    const document = { openapi: "3.1.0", info: { title: "users", version: "1" } };
    const api = { ...document, paths: { "/api/me": { get: me } } };
    const oauth = (connection: string) => ({ backendAuth: { oauth: { connection, page } } });
    const target = (name: string, host: string, connection: string) => ({
      ...{ name, mcp: { host }, policies: oauth(connection) },
    });
    const route = (name: string, backends: readonly object[]) => ({
      name,
      matches: [{ path: { pathPrefix: `/${name}` } }],
      policies: { jwtAuth: { issuer, audiences: ["token"], jwks: { url: `${issuer}/jwks` } } },
      backends,
    });
    const tools = (name: string, targets: readonly object[]) => route(name, [{ mcp: { targets } }]);
    const site = (name: string, connection: string, host: string) => {
      const whole = route(name, [{ host, policies: oauth(connection) }]);
      const urlRewrite = { path: { prefix: "/api" } };
      return { ...whole, policies: { ...whole.policies, urlRewrite } };
    };
    const hostOf = (url: string) => new URL(url).host;
    const servers = [
      { name: "users", resource: users.resource },
      { name: "brief", resource: brief.resource, issuer: brief.issuer, scopes: ["read"] },
    ];
    const routes = [
      {
        name: "connect",
        matches: [{ path: { pathPrefix: "/connect" } }],
        policies: {
          oidc: {
            ...oidc("connect"),
            logout: { path: "/connect/logout", local: true, backChannelPath: BACK_CHANNEL },
          },
          userConnections: { url: page, servers },
        },
      },
      {
        name: "token",
        matches: [{ path: { pathPrefix: "/token" } }],
        policies: { oidc: oidc("token"), backendAuth: { passthrough: {} } },
        backends: [{ host: echo }],
      },
      tools("tools", [target("users", users.resource, "users")]),
      tools("api", [
        {
          name: "api",
          openapi: { schema: JSON.stringify(api), host: new URL(users.resource).origin },
          policies: oauth("users"),
        },
      ]),
      tools("brief", [target("brief", brief.resource, "brief")]),
      tools("both", [target("a", users.resource, "users"), target("b", brief.resource, "brief")]),
      site("site", "users", hostOf(users.resource)),
      site("second", "brief", hostOf(brief.resource)),
      {
        name: "portal",
        matches: [{ path: { pathPrefix: "/portal" } }],
        policies: { oidc: oidc("portal"), urlRewrite: { path: { prefix: "/api" } } },
        backends: [{ host: hostOf(brief.resource), policies: oauth("brief") }],
      },
    ];
    return {
      config: {
        workerThreads: 2,
        logging: { audit: { file: this.auditFile } },
        ...(redis !== undefined && { store: { redis: { url: "${REDIS_URL}" } } }),
      },
      binds: [{ port, listeners: [{ routes }] }],
    };
  }
}

/** Returns the text of a tool's result. */
export function textOf(result: object): string {
  return (result as { content?: readonly { text?: string }[] }).content?.[0]?.text ?? "";
}

/** Starts a load balancer that sends each request to the port of the moment. Returns its port. */
function startFront(choose: () => number): Promise<number> {
  const server = createServer((request, response) => {
    const { method, url, headers } = request;
    const options = { host: "127.0.0.1", port: choose(), path: url, method, headers };
    const next = httpRequest(options, (found) => {
      response.writeHead(found.statusCode ?? 502, found.headers);
      found.pipe(response);
    });
    next.on("error", () => response.destroy());
    response.on("close", () => next.destroy());
    request.pipe(next);
  });
  return listen(server);
}
