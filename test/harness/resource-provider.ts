import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { Provider } from "oidc-provider";
import { listen } from "./listen.ts";

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
  /** Every token that was accepted. */
  readonly tokens: Set<string>;
  /** Tokens that the MCP server no longer accepts. */
  readonly refused: Set<string>;
}

/**
 * Starts one; `lifetime`: of its access tokens, in seconds. The tool `whoami` and the API `/api/me` name the user of the token.
 */
export async function startResourceProvider(lifetime = 3600): Promise<ResourceProvider> {
  const server = createServer();
  const issuer = `http://127.0.0.1:${await listen(server)}`;
  const tools = createServer();
  const resource = `http://127.0.0.1:${await listen(tools)}/mcp`;
  const provider = new Provider(issuer, configuration(resource, lifetime));
  const state: ResourceProvider = {
    ...{ issuer, resource, served: [], asked: [], registered: [] },
    tokens: new Set(),
    refused: new Set(),
  };
  const respond = provider.callback();
  server.on("request", async (request: IncomingMessage & { body?: string }, response) => {
    const { url = "", method } = request;
    if (url.startsWith("/people/")) {
      if (method === "GET") {
        response.setHeader("content-type", "text/html");
        response.end(`<form method="post"><input name="login"></form>`);
        return;
      }
      const login = new URLSearchParams(await text(request)).get("login") ?? "";
      const result =
        login === "nobody" ? { error: "access_denied" } : { login: { accountId: login } };
      await provider.interactionFinished(request, response, result);
      return;
    }
    if (method === "POST" && /^\/(?:token|reg)/.test(url)) {
      request.body = await text(request);
      if (url === "/token") state.asked.push(new URLSearchParams(request.body).get("grant_type"));
      if (url === "/reg") state.registered.push(request.body);
    }
    respond(request, response);
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

function configuration(resource: string, lifetime: number): object {
  return {
    cookies: { keys: ["test"] },
    scopes: ["openid", "read"],
    pkce: { required: () => true },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/people/${uid}` },
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
