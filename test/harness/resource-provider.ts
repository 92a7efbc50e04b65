import { createHash } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { Provider } from "oidc-provider";
import { listen } from "./listen.ts";

/** How the authorization server differs from others. */
export interface ResourceProviderOptions {
  /** Lifetime of its access tokens, in seconds. */
  readonly lifetime?: number;
  /** Whether it issues a new refresh token with each access token, and ends the grant if an old one is used. */
  readonly rotates?: boolean;
  /** Milliseconds before it responds to a renewal. */
  readonly delay?: number;
  /**
   * Whether it has Keycloak's paths and habits: an issuer with a path, whose metadata is only where OpenID Connect has it, no
   * resources of RFC 8707, members of its own in responses, and a login page on another site (a brokered identity provider).
   */
  readonly isLikeKeycloak?: boolean;
}

/** A real MCP server for its users only, and its own authorization server, a real one that registers clients. */
export interface ResourceProvider {
  readonly issuer: string;
  /** URL of the MCP server. */
  readonly resource: string;
  /** Names of the users of the calls that the server served, in order. */
  readonly served: string[];
  /** Grant types of the requests for tokens, in order. */
  readonly asked: (string | null)[];
  /** Bodies of registrations. */
  readonly registered: string[];
  /** Tokens that clients revoked, in order. */
  readonly revoked: string[];
  /** Every token that was accepted. */
  readonly tokens: Set<string>;
  /** Tokens that the MCP server no longer accepts. */
  readonly refused: Set<string>;
  /** Every token of a response: access and refresh tokens. */
  readonly issued: Set<string>;
  /** Whether the authorization server still accepts an access token. */
  isAccepted(token: string): Promise<boolean>;
  /** Ends the grant of an access token, as users can at the authorization server itself. */
  end(token: string): Promise<void>;
}

/**
 * Starts one. The tool `whoami`, the API `/api/me` and the protocol `echo` name the user of the token; `/api/echo` also says
 * what it received.
 */
export async function startResourceProvider(
  options: ResourceProviderOptions = {},
): Promise<ResourceProvider> {
  const { lifetime = 3600, isLikeKeycloak = false } = options;
  const server = createServer();
  const origin = `http://127.0.0.1:${await listen(server)}`;
  const mount = mountOf(options);
  const issuer = `${origin}${mount}`;
  const tools = createServer();
  const resource = `http://127.0.0.1:${await listen(tools)}/mcp`;
  const provider = new Provider(issuer, {
    ...configuration(resource, { ...options, lifetime }),
    ...(isLikeKeycloak && KEYCLOAK),
  });
  if (isLikeKeycloak) provider.use(addMembers);
  const state: ResourceProvider = {
    ...{ issuer, resource, served: [], asked: [], registered: [], revoked: [] },
    tokens: new Set(),
    refused: new Set(),
    issued: new Set(),
    isAccepted: async (token) => {
      const found = await provider.AccessToken.find(token);
      return found !== undefined && !found.isExpired;
    },
    end: async (token) => {
      const { grantId = "" } = (await provider.AccessToken.find(token)) ?? {};
      await Promise.all([
        provider.AccessToken.revokeByGrantId(grantId),
        provider.RefreshToken.revokeByGrantId(grantId),
      ]);
    },
  };
  provider.use(async (context, next) => {
    await next();
    const { access_token: access, refresh_token: refresh } = Object(context.body);
    for (const each of [access, refresh]) if (typeof each === "string") state.issued.add(each);
  });
  const respond = provider.callback();
  const broker = isLikeKeycloak ? await startBroker() : undefined;
  server.on("request", async (request: OwnRequest, response) => {
    const { url: whole = "", method } = request;
    if (!whole.startsWith(mount) || (isLikeKeycloak && whole.includes("oauth-authorization"))) {
      response.writeHead(404).end();
      return;
    }
    request.originalUrl = whole;
    const url = whole.slice(mount.length);
    request.url = url;
    if (url.startsWith("/people/")) {
      const { searchParams } = new URL(url, origin);
      if (method === "GET" && broker !== undefined && !searchParams.has("login")) {
        const back = encodeURIComponent(`${origin}${whole}`);
        response.writeHead(302, { location: `${broker}/?back=${back}` }).end();
        return;
      }
      if (method === "GET" && broker === undefined) {
        response.setHeader("content-type", "text/html");
        response.end(LOGIN_FORM);
        return;
      }
      const form = method === "GET" ? searchParams : new URLSearchParams(await text(request));
      const login = form.get("login") ?? "";
      const result =
        login === "nobody" ? { error: "access_denied" } : { login: { accountId: login } };
      await provider.interactionFinished(request, response, result);
      return;
    }
    if (method === "POST" && /\/(?:token|reg|revo|clients-reg)/.test(url)) {
      request.body = await text(request);
      const form = new URLSearchParams(request.body);
      if (url.endsWith("/token")) {
        state.asked.push(form.get("grant_type"));
        if (form.get("grant_type") === "refresh_token" && options.delay !== undefined)
          await setTimeout(options.delay);
      } else if (/\/(?:revo|token\/revo)/.test(url)) state.revoked.push(form.get("token") ?? "");
      else state.registered.push(request.body);
    }
    respond(request, response);
  });
  tools.on("upgrade", async (request, socket) => {
    const value = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1] ?? "";
    const token = await provider.AccessToken.find(value);
    if (token === undefined || state.refused.has(value)) {
      socket.end("HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n");
      return;
    }
    socket.write(
      "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n",
    );
    socket.end(token.accountId);
  });
  tools.on("request", async (request, response) => {
    if (request.url === "/.well-known/oauth-protected-resource/mcp") {
      response.setHeader("content-type", "application/json");
      const document = { resource, authorization_servers: [issuer], scopes_supported: ["read"] };
      response.end(JSON.stringify(document));
      return;
    }
    const value = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1] ?? "";
    const token = await provider.AccessToken.find(value);
    if (token === undefined || token.isExpired || state.refused.has(value)) {
      response.writeHead(401, { "www-authenticate": 'Bearer error="invalid_token"' }).end();
      return;
    }
    state.tokens.add(value);
    if (request.url?.startsWith("/api/echo") === true) {
      const hash = createHash("sha256");
      let length = 0;
      for await (const chunk of request) {
        length += chunk.length;
        hash.update(chunk);
      }
      const { method, url, headers } = request;
      const found = { user: token.accountId, method, url, length, digest: hash.digest("hex") };
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ ...found, headers: Object.keys(headers) }));
      return;
    }
    if (request.url === "/api/me") {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ user: token.accountId }));
      return;
    }
    await serveTools(request, response, token.accountId, state.served);
  });
  return state;
}

async function serveTools(
  request: IncomingMessage,
  response: Parameters<StreamableHTTPServerTransport["handleRequest"]>[1],
  user: string,
  served: string[],
): Promise<void> {
  const server = new McpServer({ name: "users", version: "1.0.0" });
  server.registerTool("whoami", {}, () => {
    served.push(user);
    return { content: [{ type: "text", text: user }] };
  });
  const transport = new StreamableHTTPServerTransport({});
  response.on("close", () => void server.close());
  await server.connect(transport as Parameters<typeof server.connect>[0]);
  await transport.handleRequest(request, response);
}

type OwnRequest = IncomingMessage & { body?: string; originalUrl?: string };

const LOGIN_FORM = `<form method="post"><input name="login"><button>Log in</button></form>`;

/** Starts the login page of another site, which sends the browser back with the name. */
async function startBroker(): Promise<string> {
  const server = createServer(async (request, response) => {
    if (request.method === "GET") {
      response.setHeader("content-type", "text/html");
      response.end(LOGIN_FORM);
      return;
    }
    const back = new URL(
      new URL(request.url ?? "", "http://localhost").searchParams.get("back") ?? "",
    );
    const login = new URLSearchParams(await text(request)).get("login") ?? "";
    back.searchParams.set("login", login);
    response.writeHead(303, { location: back.href }).end();
  });
  return `http://localhost:${await listen(server)}`;
}

/** Adds what Keycloak has in its responses. */
async function addMembers(
  context: { readonly path: string; body: unknown },
  next: () => Promise<void>,
): Promise<void> {
  await next();
  if (!context.path.endsWith("/token") || Object(context.body).access_token === undefined) return;
  const more = { "not-before-policy": 0, session_state: "b1", refresh_expires_in: 1800 };
  context.body = { ...Object(context.body), ...more };
}

const OF_KEYCLOAK = "/protocol/openid-connect";
const KEYCLOAK = {
  routes: {
    authorization: `${OF_KEYCLOAK}/auth`,
    token: `${OF_KEYCLOAK}/token`,
    revocation: `${OF_KEYCLOAK}/revoke`,
    jwks: `${OF_KEYCLOAK}/certs`,
    end_session: `${OF_KEYCLOAK}/logout`,
    userinfo: `${OF_KEYCLOAK}/userinfo`,
    registration: "/clients-registrations/openid-connect",
  },
  features: {
    devInteractions: { enabled: false },
    registration: { enabled: true },
    revocation: { enabled: true },
    resourceIndicators: { enabled: false },
  },
};

function mountOf({ isLikeKeycloak = false }: ResourceProviderOptions): string {
  return isLikeKeycloak ? "/realms/test" : "";
}

function configuration(resource: string, options: ResourceProviderOptions): object {
  const { lifetime, rotates = false } = options;
  const mount = mountOf(options);
  return {
    cookies: { keys: ["test"] },
    scopes: ["openid", "read"],
    pkce: { required: () => true },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `${mount}/people/${uid}` },
    findAccount: (_: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
    async loadExistingGrant({ oidc }: { oidc: GrantContext }) {
      const { client, session, provider } = oidc;
      const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope("openid read");
      grant.addResourceScope(resource, "read");
      await grant.save();
      return grant;
    },
    issueRefreshToken: () => true,
    rotateRefreshToken: rotates,
    ttl: {
      AccessToken: lifetime,
      Session: 3600,
      Grant: 3600,
      RefreshToken: 3600,
      Interaction: 600,
    },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: "read",
          audience: resource,
          accessTokenFormat: "opaque",
          accessTokenTTL: lifetime,
        }),
      },
    },
  };
}

interface GrantContext {
  readonly client: { readonly clientId: string };
  readonly session: { readonly accountId: string };
  readonly provider: Provider;
}
