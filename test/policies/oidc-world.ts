import { type Echo, startEcho } from "../harness/echo.ts";
import { freePorts } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import {
  CLIENT_SECRET,
  type LoginProvider,
  startLoginProvider,
} from "../harness/login-provider.ts";

/** An OpenID provider, a compiled gateway whose routes are its clients, and an upstream. */
export interface LoginWorld {
  readonly provider: LoginProvider;
  readonly gateway: Gateway;
  readonly upstream: Echo;
  /** URL of the gateway. */
  readonly base: string;
  /** URL of a listener that requires the login for every route; browsers see it as `https://secure.example`. */
  readonly secure: string;
  /** URL of a route whose provider is not reachable. */
  readonly away: string;
  /** Another port of the gateway, whose route requires no login. */
  readonly open: string;
  /** Another replica, which has only the route of the client `app`. */
  readonly replica: string;
}

const clients = {
  app: { hasRefreshTokens: true, loggedOutUri: true },
  post: { authentication: "client_secret_post" },
  brief: { lifetime: 2, hasRefreshTokens: true },
  short: { lifetime: 1 },
  local: {},
  given: {},
  secure: {},
} as const;

/** Starts a world; each client has a route below its name. */
export async function startLoginWorld(): Promise<LoginWorld> {
  const [port, ...others] = await freePorts(5);
  const [base, secure, away, replica, open] = [port, ...others].map(
    (each) => `http://127.0.0.1:${each}`,
  ) as [...[string, string, string, string, string]];
  const provider = await startLoginProvider(() =>
    Object.entries(clients).map(
      ([id, { loggedOutUri = false, ...client }]: [string, ClientCase]) => ({
        id,
        redirectUri: `${id === "secure" ? "https://secure.example" : base}/${id}-callback`,
        ...(loggedOutUri && { loggedOutUri: `${base}/${id}-bye` }),
        ...client,
      }),
    ),
  );
  const upstream = await startEcho();
  const { issuer } = provider;
  const backends = [{ host: new URL(upstream.url).host }];
  const route = (id: string, more: object = {}, policies: object = {}) => ({
    name: id,
    matches: [{ path: { pathPrefix: `/${id}` } }],
    policies: {
      oidc: {
        issuer,
        clientId: id,
        clientSecret: "${SECRET}",
        redirectURI: `${base}/${id}-callback`,
        scopes: ["email", "profile"],
        ...more,
      },
      transformations: { request: { set: { "x-user": "jwt.email", "x-sub": "jwt.sub" } } },
      ...policies,
    },
    backends,
  });
  const routes = [
    route("app", { logout: { path: "/app/logout", redirectURI: `${base}/app-bye` } }),
    route("post"),
    route("brief", {}, { backendAuth: { passthrough: {} } }),
    route("short"),
    route("local", { logout: { path: "/local/logout", local: true } }),
    route(
      "given",
      {
        authorizationEndpoint: `${issuer}/auth`,
        tokenEndpoint: `${issuer}/token`,
        jwks: { url: `${issuer}/jwks` },
      },
      { authorization: { rules: ['jwt.sub == "alice"'] } },
    ),
    { name: "bye", matches: [{ path: { exact: "/app-bye" } }], backends },
  ];
  const guarded = (address: string, id: string) => ({
    policies: {
      oidc: {
        issuer: address,
        clientId: id,
        clientSecret: "${SECRET}",
        redirectURI: `https://secure.example/${id}-callback`,
      },
    },
    routes: [{ backends, policies: { authorization: { rules: ['jwt.sub == "alice"'] } } }],
  });
  const guards = [guarded(issuer, "secure"), guarded("http://127.0.0.1:1", "away")];
  const config = {
    // one thread must know the logins and sessions of the other one
    config: { workerThreads: 2 },
    binds: [
      { port, listeners: [{ routes }] },
      ...guards.map((listener, index) => ({ port: others[index], listeners: [listener] })),
      { port: others[3], listeners: [{ routes: [{ backends }] }] },
    ],
  };
  const env = { SECRET: CLIENT_SECRET, SESSION_KEY: "5e".repeat(32) };
  const alone = { binds: [{ port: others[2], listeners: [{ routes: routes.slice(0, 1) }] }] };
  const [gateway] = await Promise.all([
    startGateway({ config, env }),
    startGateway({ config: alone, env }),
  ]);
  return { provider, gateway, upstream, base, secure, away, replica, open };
}

interface ClientCase {
  readonly loggedOutUri?: boolean;
  readonly authentication?: "client_secret_post";
  readonly lifetime?: number;
  readonly hasRefreshTokens?: boolean;
}
