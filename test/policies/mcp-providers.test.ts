import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { exportJWK, generateKeyPair } from "jose";
import { Provider } from "oidc-provider";
import { beforeAll, describe, expect, it } from "vitest";
import { startEcho } from "../harness/echo.ts";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { UserAgent } from "../harness/user-agent.ts";
import { checkManifests, complaints } from "../kubernetes/manifests.ts";
import {
  allow,
  authorizeUrl,
  freshPkce,
  register as registerClient,
  requestTokens,
} from "./front-world.ts";

const AUDIENCE = "https://api.example";
const REDIRECT = "http://localhost:1234/callback";
const SECRET = "s3cret-of-the-client";

/** A real OpenID provider whose users log in at once, with the manners of a product. */
interface Product {
  readonly issuer: string;
  /** Parameters of the requests to it, in order, with their path. */
  readonly asked: { readonly path: string; readonly form: URLSearchParams }[];
}

interface Manners {
  /** Path of its issuer. */
  readonly path?: string;
  readonly routes?: Readonly<Record<string, string>>;
  readonly isConfidential?: boolean;
  /** Redirect URIs of its client. */
  readonly redirects?: readonly string[];
  /** Whether it does not know RFC 8707. */
  readonly ignoresResource?: boolean;
  /** Returns why a request to the authorization or token endpoint is refused. */
  readonly refuses?: (form: URLSearchParams, path: string) => string | undefined;
}

async function startProduct(manners: Manners): Promise<Product> {
  const { path = "", routes = {}, isConfidential = false, ignoresResource, refuses } = manners;
  const { redirects = [REDIRECT] } = manners;
  const server = createServer();
  const issuer = `http://127.0.0.1:${await listen(server)}${path}`;
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  const key = { ...(await exportJWK(privateKey)), kid: "k", alg: "RS256", use: "sig" };
  const provider = new Provider(issuer, configuration(key, routes, isConfidential, redirects));
  const respond = provider.callback();
  const asked: { path: string; form: URLSearchParams }[] = [];
  type Incoming = IncomingMessage & { body?: string; originalUrl?: string };
  server.on("request", async (request: Incoming, response) => {
    const url = new URL(request.url ?? "", issuer);
    if (url.pathname.startsWith(`${path}/people/`)) {
      await provider.interactionFinished(request, response, { login: { accountId: "ann" } });
      return;
    }
    const isToken = request.method === "POST" && url.pathname === `${path}/token`;
    if (isToken) request.body = await text(request);
    const form = isToken ? new URLSearchParams(request.body) : url.searchParams;
    if (isToken || url.pathname === `${path}/auth`) {
      asked.push({ path: url.pathname, form });
      const refusal = refuses?.(form, url.pathname.slice(path.length));
      if (refusal !== undefined) {
        response.writeHead(400, { "content-type": "application/json" });
        response.end(JSON.stringify({ error: "invalid_target", error_description: refusal }));
        return;
      }
    }
    if (ignoresResource === true) {
      form.delete("resource");
      if (isToken) request.body = form.toString();
      else request.url = `${url.pathname}${url.search}`;
    }
    request.originalUrl = request.url ?? "";
    request.url = request.originalUrl.slice(path.length) || "/";
    respond(request, response);
  });
  return { issuer, asked };
}

function configuration(
  key: object,
  routes: Readonly<Record<string, string>>,
  isConfidential: boolean,
  redirects: readonly string[],
): object {
  const server = {
    scope: "use",
    audience: AUDIENCE,
    accessTokenFormat: "jwt",
    accessTokenTTL: 300,
    jwt: { sign: { alg: "RS256" } },
  };
  return {
    jwks: { keys: [key] },
    routes,
    scopes: ["openid", "offline_access", "use"],
    cookies: { keys: ["test"] },
    interactions: {
      url: ({ oidc }: { oidc: { issuer: string } }, { uid }: { uid: string }) =>
        `${new URL(oidc.issuer).pathname.replace(/\/$/, "")}/people/${uid}`,
    },
    findAccount: (_: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
    async loadExistingGrant({ oidc }: { oidc: GrantContext }) {
      const { client, session, provider } = oidc;
      const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope("openid use");
      grant.addResourceScope(AUDIENCE, "use");
      await grant.save();
      return grant;
    },
    clients: [
      {
        client_id: "known",
        redirect_uris: redirects,
        ...(isConfidential
          ? { client_secret: SECRET, token_endpoint_auth_method: "client_secret_post" }
          : { token_endpoint_auth_method: "none" }),
      },
    ],
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => AUDIENCE,
        useGrantedResource: () => true,
        getResourceServerInfo: () => server,
      },
    },
  };
}

interface GrantContext {
  readonly client: { readonly clientId: string };
  readonly session: { readonly accountId: string };
  readonly provider: Provider;
}

/** Endpoints that an MCP client reads at the gateway. */
interface Endpoints {
  readonly issuer: string;
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly registration_endpoint?: string;
  readonly code_challenge_methods_supported?: readonly string[];
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the document has
async function jsonOf(response: Response): Promise<any> {
  return response.json();
}

async function endpointsOf(gateway: Gateway, route: string): Promise<Endpoints> {
  const resource = `${gateway.url}/.well-known/oauth-protected-resource/${route}`;
  const { authorization_servers: servers } = await jsonOf(await fetch(resource));
  const { origin, pathname } = new URL(servers[0]);
  const found = await fetch(`${origin}/.well-known/oauth-authorization-server${pathname}`);
  expect(found.status).toBe(200);
  return (await found.json()) as Endpoints;
}

async function register({ registration_endpoint: url = "" }: Endpoints, body: string) {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body });
  return { status: response.status, client: await jsonOf(response) };
}

const client = { redirect_uris: [REDIRECT], token_endpoint_auth_method: "none", client_name: "t" };

/** Walks the authorization code flow with PKCE and RFC 8707 as an MCP client does; returns the response for the code. */
async function logIn(endpoints: Endpoints, clientId: string, resource: string): Promise<Response> {
  const verifier = randomBytes(32).toString("base64url");
  const url = new URL(endpoints.authorization_endpoint);
  const challenge = createHash("sha256").update(verifier).digest("base64url");
  const parameters = {
    client_id: clientId,
    redirect_uri: REDIRECT,
    response_type: "code",
    scope: "openid use",
    code_challenge: challenge,
    code_challenge_method: "S256",
    resource,
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  const code = await codeAfter(url);
  const form = {
    grant_type: "authorization_code",
    code,
    redirect_uri: REDIRECT,
    client_id: clientId,
    code_verifier: verifier,
    resource,
  };
  return fetch(endpoints.token_endpoint, { method: "POST", body: new URLSearchParams(form) });
}

/** Follows redirects with cookies to the client's own address. */
async function codeAfter(start: URL): Promise<string> {
  const jar = new Map<string, string>();
  let at = start;
  for (let hops = 0; hops < 10; hops++) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(at, { redirect: "manual", headers: { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      jar.set(name, value);
    }
    const location = response.headers.get("location");
    if (location === null) throw new Error(`no redirect: ${await response.text()}`);
    at = new URL(location, at);
    if (at.href.startsWith(REDIRECT)) return at.searchParams.get("code") ?? at.search;
  }
  throw new Error("too many redirects");
}

let okta: Product;
let entra: Product;
let authentik: Product;
let gateway: Gateway;
let port: number;

beforeAll(async () => {
  port = await freePort();
  const callbacks = (name: string) => [REDIRECT, `http://127.0.0.1:${port}/${name}/callback`];
  okta = await startProduct({
    redirects: callbacks("okta-server"),
    routes: { registration: "/oauth2/v1/clients", jwks: "/v1/keys" },
    ignoresResource: true,
    refuses: (form, path) =>
      path === "/auth" && form.get("audience") !== AUDIENCE ? "no audience" : undefined,
  });
  entra = await startProduct({
    redirects: callbacks("entra-server"),
    path: "/11111111-2222/v2.0",
    isConfidential: true,
    refuses: (form) => (form.has("resource") ? "AADSTS9010010" : undefined),
  });
  authentik = await startProduct({ path: "/application/o/tools", routes: { jwks: "/jwks/" } });
  const upstream = await startEcho();
  const route = (name: string, { issuer }: Product, more: object) => ({
    name,
    matches: [{ path: { pathPrefix: `/${name}` } }],
    policies: { mcpAuthentication: { issuer, audiences: [AUDIENCE], ...more } },
    backends: [{ mcp: { targets: [{ name: "t", mcp: { host: `${upstream.url}/mcp` } }] } }],
  });
  const keys = { url: `${entra.issuer}/jwks` };
  const front = (name: string) => ({
    clientId: "known",
    authorizationServer: {
      url: `http://127.0.0.1:${port}/${name}-server`,
      redirectURIs: ["http://localhost/callback"],
      scopes: ["openid", "use"],
    },
  });
  const listeners = [
    {
      routes: [
        route("okta-front", okta, { provider: { okta: {} }, ...front("okta") }),
        route("entra-front", entra, {
          provider: { entra: {} },
          clientSecret: "${CLIENT_SECRET}",
          jwks: keys,
          ...front("entra"),
        }),
        route("okta", okta, { provider: { okta: {} } }),
        route("okta-variable", { ...okta, issuer: "${OKTA}" }, { provider: { okta: {} } }),
        route("okta-known", okta, { provider: { okta: {} }, clientId: "known" }),
        route("authentik", authentik, { provider: { authentik: {} }, clientId: "known" }),
        route("bare", authentik, {
          clientId: "known",
          jwks: { url: `${authentik.issuer}/jwks/` },
        }),
        ...[entra, { ...entra, issuer: "${ENTRA}" }].map((product, index) =>
          route(index === 0 ? "entra" : "entra-variable", product, {
            provider: { entra: {} },
            clientId: "known",
            clientSecret: "${CLIENT_SECRET}",
            jwks: keys,
          }),
        ),
      ],
    },
  ];
  gateway = await startGateway({
    env: { CLIENT_SECRET: SECRET, OKTA: okta.issuer, ENTRA: entra.issuer },
    config: { binds: [{ port, listeners }] },
  });
});

/** Calls the MCP endpoint; 200 says that the token was accepted. */
async function statusWith(route: string, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  return (await fetch(`${gateway.url}/${route}`, { headers })).status;
}

async function tokenOf(response: Response): Promise<string> {
  const body = await jsonOf(response);
  expect({ status: response.status, error: body.error }).toEqual({ status: 200, error: undefined });
  return body.access_token;
}

describe("mcpAuthentication with Okta", () => {
  it.each(["okta", "okta-variable"])(
    "clients of the route %s register through the gateway and get a token for the audience",
    async (route) => {
      const endpoints = await endpointsOf(gateway, route);
      const { status, client: own } = await register(endpoints, JSON.stringify(client));
      expect(status).toBe(201);
      const token = await tokenOf(await logIn(endpoints, own.client_id, `${gateway.url}/${route}`));
      expect(await statusWith(route, token)).toBe(200);
      expect(await statusWith(route, "x")).toBe(401);
    },
  );

  it("a known client needs no registration at the provider", async () => {
    const endpoints = await endpointsOf(gateway, "okta-known");
    const { client: own } = await register(endpoints, JSON.stringify(client));
    expect(own).toEqual({
      client_id: "known",
      redirect_uris: [REDIRECT],
      token_endpoint_auth_method: "none",
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
    });
    const token = await tokenOf(await logIn(endpoints, "known", `${gateway.url}/okta-known`));
    expect(await statusWith("okta-known", token)).toBe(200);
  });

  it.each(["", "{}", '{"redirect_uris":[]}', '{"redirect_uris":[1]}'])(
    "a registration with the body %j is refused",
    async (body) => {
      const endpoints = await endpointsOf(gateway, "okta-known");
      const { status, client: refusal } = await register(endpoints, body);
      expect([status, refusal]).toEqual([400, { error: "invalid_redirect_uri" }]);
    },
  );
});

describe("mcpAuthentication with authentik, or no provider", () => {
  it.each(["authentik", "bare"])("a known client logs in on the route %s", async (route) => {
    const endpoints = await endpointsOf(gateway, route);
    expect(endpoints.issuer).toBe(`${gateway.url}/${route}`);
    const { client: own } = await register(endpoints, JSON.stringify(client));
    const token = await tokenOf(await logIn(endpoints, own.client_id, AUDIENCE));
    expect(await statusWith(route, token)).toBe(200);
  });
});

describe("mcpAuthentication with Entra", () => {
  it.each(["entra", "entra-variable"])(
    "requests of the route %s arrive without the resource, and with the secret of the known client",
    async (route) => {
      const endpoints = await endpointsOf(gateway, route);
      expect(endpoints.code_challenge_methods_supported).toContain("S256");
      const { client: own } = await register(endpoints, JSON.stringify(client));
      const token = await tokenOf(await logIn(endpoints, own.client_id, `${gateway.url}/${route}`));
      expect(await statusWith(route, token)).toBe(200);
      expect(entra.asked.map(({ form }) => form.has("resource"))).not.toContain(true);
      expect(entra.asked.at(-1)?.form.get("client_secret")).toBe(SECRET);
      expect(gateway.output).not.toContain(SECRET);
    },
  );

  it("an issuer of the environment without a tenant ends the start", async () => {
    const policies = {
      mcpAuthentication: {
        issuer: "${ENTRA}",
        audiences: [AUDIENCE],
        provider: { entra: {} },
        clientId: "known",
      },
    };
    const backends = [{ mcp: { targets: [{ name: "t", mcp: { host: "http://127.0.0.1:1" } }] } }];
    const listeners = [{ routes: [{ policies, backends }] }];
    const env = { ENTRA: "https://login.microsoftonline.com" };
    await expect(startGateway({ env, listeners })).rejects.toThrow(
      "the environment's issuer of mcpAuthentication is not one of Microsoft Entra",
    );
  });

  it.each([
    ["another client", { grant_type: "authorization_code", code: "c", client_id: "other" }],
    ["a grant of the client itself", { grant_type: "client_credentials", client_id: "known" }],
    [
      "a secret of its own",
      { grant_type: "refresh_token", client_id: "known", client_secret: "x" },
    ],
  ])("the secret is not added for %s", async (_, form) => {
    const { token_endpoint: url } = await endpointsOf(gateway, "entra");
    await fetch(url, { method: "POST", body: new URLSearchParams(form) });
    expect(entra.asked.at(-1)?.form.get("client_secret")).not.toBe(SECRET);
  });

  it("the secret is not added if a grant or client is named twice", async () => {
    const { token_endpoint: url } = await endpointsOf(gateway, "entra");
    const body =
      "grant_type=authorization_code&grant_type=client_credentials&client_id=known&client_id=other";
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    await fetch(url, { method: "POST", headers, body });
    expect(entra.asked.at(-1)?.form.has("client_secret")).toBe(false);
  });
});

describe("an authorization server of the gateway", () => {
  it.each([
    ["okta", true],
    ["entra", false],
  ] as const)(
    "sends %s the parameters that it requires, on both legs",
    async (name, hasAudience) => {
      const product = name === "okta" ? okta : entra;
      const world = {
        base: gateway.url,
        url: `${gateway.url}/${name}-server`,
        resource: `${gateway.url}/${name}-front`,
      };
      const { id } = await registerClient(world, client);
      const pkce = freshPkce();
      product.asked.length = 0;
      const start = authorizeUrl(world, id, pkce, { redirect_uri: REDIRECT });
      const returned = await allow(new UserAgent(), world, start, "ann");
      const { tokens } = await requestTokens(world, {
        grant_type: "authorization_code",
        code: returned.searchParams.get("code") ?? "",
        client_id: id,
        redirect_uri: REDIRECT,
        code_verifier: pkce.verifier,
        resource: world.resource,
      });
      expect(await statusWith(`${name}-front`, String(tokens.access_token))).toBe(200);
      const [authorization, token] = product.asked;
      expect(authorization?.form.has("audience")).toBe(hasAudience);
      expect(authorization?.form.get("code_challenge_method")).toBe("S256");
      // The provider that ignores it removes it from the record.
      expect([authorization, token].some((each) => each?.form.has("resource"))).toBe(false);
      expect(gateway.output).not.toContain(SECRET);
    },
  );
});

it.each([
  [{ provider: { entra: {} } }, /"clientId" is required/],
  [{ provider: { authentik: {} } }, /"clientId" is required/],
  [{ provider: { descope: {} } }, /issuer of Descope/],
  [{ provider: { okta: {} }, clientId: "a", clientSecret: "${A}" }, /"clientSecret" applies to/],
  [{ provider: { entra: {} }, clientSecret: "${A}" }, /"clientSecret" requires "clientId"/],
  [{ provider: { other: {} } }, /"other"/],
])("%j is a mistake", (authentication, message) => {
  const issuer = "https://login.microsoftonline.com/t/v2.0";
  const text = `
binds:
- port: 3000
  listeners:
  - routes:
    - policies:
        mcpAuthentication: ${JSON.stringify({ issuer, ...authentication })}
      backends: [{ mcp: { targets: [{ name: t, mcp: { host: "http://127.0.0.1:1/mcp" } }] } }]
`;
  expect(complaints(checkManifests(text)).join("\n")).toMatch(message);
});
