import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { text } from "node:stream/consumers";
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from "jose";
import { Provider } from "oidc-provider";
import { listen } from "./listen.ts";

/** A client of the provider, as tests need it. */
export interface LoginClient {
  readonly id: string;
  readonly redirectUri: string;
  readonly loggedOutUri?: string;
  /** URL at which logouts are announced (OpenID Connect Back-Channel Logout). */
  readonly backChannelUri?: string;
  /** Seconds that its id tokens are good for. */
  readonly lifetime?: number;
  readonly hasRefreshTokens?: boolean;
  readonly authentication?: "client_secret_basic" | "client_secret_post";
  /** A claim of so many characters. */
  readonly padding?: number;
}

/** A real OpenID provider on a loopback port, where people log in by their name alone. */
export interface LoginProvider {
  readonly issuer: string;
  /** The requests to its token endpoint, in order. */
  readonly asked: URLSearchParams[];
  /** Authorization of those requests. */
  readonly authorizations: (string | undefined)[];
  /** Overrides the response to requests of its clients. */
  fault: RequestListener | undefined;
  /** Signs a token as the provider does. */
  sign(claims: JWTPayload, typ?: string): Promise<string>;
}

export const CLIENT_SECRET = "a secret: with / and %";

/**
 * Starts one with these clients. `resource`: its access tokens are JWTs for this resource, with the scope `use` (RFC 8707), and
 * PKCE is required.
 */
export async function startLoginProvider(
  clientsOf: (issuer: string) => readonly LoginClient[],
  resource?: string,
): Promise<LoginProvider> {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  const key: JWK = { ...(await exportJWK(privateKey)), kid: "login", alg: "RS256", use: "sig" };
  const server = createServer();
  const issuer = `http://127.0.0.1:${await listen(server)}`;
  const provider = new Provider(issuer, configuration(clientsOf(issuer), key, resource));
  const state: LoginProvider = {
    ...{ issuer, asked: [], authorizations: [], fault: undefined },
    sign: (claims, typ = "logout+jwt") =>
      new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: "login", typ }).sign(privateKey),
  };
  const respond = provider.callback();
  server.on("request", async (request: IncomingMessage & { body?: string }, response) => {
    const { url = "", method } = request;
    if (url.startsWith("/people/")) {
      if (method === "GET") {
        response.setHeader("content-type", "text/html");
        response.end(`<form method="post"><input name="login"><button>Log in</button></form>`);
        return;
      }
      const login = new URLSearchParams(await text(request)).get("login") ?? "";
      const result =
        login === "nobody" ? { error: "access_denied" } : { login: { accountId: login } };
      await provider.interactionFinished(request, response, result);
      return;
    }
    const isOfClient = /^\/(?:token|jwks|\.well-known)/.test(url);
    if (isOfClient && state.fault !== undefined) {
      state.fault(request, response);
      return;
    }
    if (method === "POST" && url.startsWith("/token")) {
      // The package takes a body that was read before.
      request.body = await text(request);
      const form = new URLSearchParams(request.body);
      if (!url.endsWith("/revocation")) {
        state.asked.push(form);
        state.authorizations.push(request.headers.authorization);
      }
    }
    respond(request, response);
  });
  return state;
}

function configuration(
  clients: readonly LoginClient[],
  key: JWK,
  resource: string | undefined,
): object {
  const byId = new Map(clients.map((client) => [client.id, client]));
  return {
    jwks: { keys: [key] },
    cookies: { keys: ["test"] },
    claims: { openid: ["sub"], email: ["email"], profile: ["name", "padding"] },
    // Claims of scopes stand in the id token.
    conformIdTokenClaims: false,
    scopes: ["openid", "offline_access"],
    // Its own dispatcher refuses loopback, where the gateway of a test is.
    fetch: (url: string, { dispatcher: _, ...options }: RequestInit & { dispatcher?: unknown }) =>
      fetch(url, options),
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/people/${uid}` },
    findAccount: (_: unknown, id: string) => ({
      accountId: id,
      claims: (_use: string, _scope: string) => ({
        sub: id,
        email: `${id}@example.com`,
        name: id,
        padding: "x".repeat(id.startsWith("long") ? Number(id.slice(4)) : 0),
      }),
    }),
    async loadExistingGrant({ oidc }: { oidc: Context }) {
      const { client, session, provider } = oidc;
      const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope("openid email profile offline_access");
      if (resource !== undefined) grant.addResourceScope(resource, "use");
      await grant.save();
      return grant;
    },
    issueRefreshToken: (_: unknown, { clientId }: { clientId: string }) =>
      byId.get(clientId)?.hasRefreshTokens === true,
    rotateRefreshToken: true,
    ttl: {
      IdToken: (_: unknown, __: unknown, { clientId }: { clientId: string }) =>
        byId.get(clientId)?.lifetime ?? 3600,
      AccessToken: 3600,
      Session: 3600,
      Grant: 3600,
      RefreshToken: 3600,
      Interaction: 3600,
    },
    ...(resource !== undefined && { pkce: { required: () => true } }),
    features: {
      devInteractions: { enabled: false },
      revocation: { enabled: true },
      backchannelLogout: { enabled: true },
      ...(resource !== undefined && {
        resourceIndicators: {
          enabled: true,
          useGrantedResource: () => true,
          getResourceServerInfo: () => ({
            scope: "use",
            audience: resource,
            accessTokenFormat: "jwt",
            jwt: { sign: { alg: "RS256" } },
          }),
        },
      }),
    },
    clients: clients.map(({ id, redirectUri, loggedOutUri, authentication, ...client }) => ({
      client_id: id,
      ...(client.backChannelUri !== undefined && {
        backchannel_logout_uri: client.backChannelUri,
        backchannel_logout_session_required: true,
      }),
      client_secret: CLIENT_SECRET,
      redirect_uris: [redirectUri],
      post_logout_redirect_uris: loggedOutUri === undefined ? [] : [loggedOutUri],
      grant_types: ["authorization_code", ...(client.hasRefreshTokens ? ["refresh_token"] : [])],
      token_endpoint_auth_method: authentication ?? "client_secret_basic",
    })),
  };
}

interface Context {
  readonly client: { readonly clientId: string };
  readonly session: { readonly accountId: string };
  readonly provider: Provider;
}
