import { createHash, randomBytes } from "node:crypto";
import path from "node:path";
import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import type {
  OAuthClientInformationMixed,
  OAuthTokens,
} from "@modelcontextprotocol/sdk/shared/auth.js";
import { freePorts } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import {
  CLIENT_SECRET,
  type LoginProvider,
  startLoginProvider,
} from "../harness/login-provider.ts";
import { startMcpServer } from "../harness/mcp-server.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import type { Page, UserAgent } from "../harness/user-agent.ts";

/** Redirect URI of a client on the person's computer. */
export const LOOPBACK = "http://127.0.0.1:33418/callback";

export const SESSION_KEY = "5e".repeat(32);

/** An authorization server of a gateway, in front of a real provider that registers nobody. */
export interface FrontWorld {
  readonly base: string;
  /** URL of the authorization server. */
  readonly url: string;
  /** URL of the MCP endpoint. */
  readonly resource: string;
  readonly provider: LoginProvider;
  readonly gateway: Gateway;
  /** URL of the same authorization server at another replica. */
  readonly replica: string;
  /** Audit log of the first replica. */
  readonly audit: string;
}

/** Settings of `authorizationServer` in addition to the URL. */
export interface FrontOptions {
  readonly server?: object;
  readonly env?: Readonly<Record<string, string>>;
  /** URL of the authorization server, if it is not the one where the test reaches it. */
  readonly publicUrl?: string;
}

/** Starts one on two replicas with two threads each. */
export async function startFrontWorld({
  server = {},
  env = {},
  publicUrl,
}: FrontOptions = {}): Promise<FrontWorld> {
  const [port = 0, other = 0] = await freePorts(2);
  const base = `http://127.0.0.1:${port}`;
  const url = `${base}/oauth`;
  const resource = `${base}/mcp`;
  const client = { id: "gateway", redirectUri: `${url}/callback`, hasRefreshTokens: true };
  const provider = await startLoginProvider(() => [client], resource);
  const tools = await startMcpServer();
  const { issuer } = provider;
  const folder = temporaryFolder({});
  const auditFile = (at: number) => path.join(folder, `${at}.log`);
  const configAt = (at: number) => ({
    config: { workerThreads: 2, logging: { audit: { file: auditFile(at) } } },
    binds: [
      {
        port: at,
        listeners: [
          {
            routes: [
              {
                name: "tools",
                matches: [{ path: { exact: "/mcp" } }],
                policies: {
                  mcpAuthentication: {
                    issuer,
                    audiences: [resource],
                    jwks: { url: `${issuer}/jwks` },
                    resourceMetadata: { scopesSupported: ["use"] },
                    clientId: "gateway",
                    clientSecret: "${SECRET}",
                    authorizationServer: {
                      url: publicUrl ?? url,
                      redirectURIs: [
                        "http://127.0.0.1/callback",
                        "http://localhost/*",
                        "https://claude.example/api/callback",
                        "cursor://anysphere.cursor-mcp/oauth/callback",
                      ],
                      ...server,
                    },
                  },
                },
                backends: [
                  { mcp: { targets: [{ name: "t", mcp: { host: `${tools.url}/mcp` } }] } },
                ],
              },
            ],
          },
        ],
      },
    ],
  });
  const variables = { SECRET: CLIENT_SECRET, SESSION_KEY, ...env };
  const start = (at: number) => startGateway({ config: configAt(at), env: variables });
  const [gateway] = await Promise.all([start(port), start(other)]);
  const replica = `http://127.0.0.1:${other}/oauth`;
  return { base, url, resource, provider, gateway, replica, audit: auditFile(port) };
}

/** The storage of an MCP client with a person. */
export class ClientOfPerson implements OAuthClientProvider {
  readonly redirectUrl: string;
  readonly clientMetadata;
  client: OAuthClientInformationMixed | undefined;
  sentTo: URL | undefined;
  #tokens: OAuthTokens | undefined;
  #verifier = "";

  constructor(name: string, redirectUrl: string = LOOPBACK) {
    this.redirectUrl = redirectUrl;
    this.clientMetadata = { redirect_uris: [redirectUrl], client_name: name };
  }

  state(): string {
    return "state of the client";
  }

  clientInformation(): OAuthClientInformationMixed | undefined {
    return this.client;
  }

  saveClientInformation(client: OAuthClientInformationMixed): void {
    this.client = client;
  }

  tokens(): OAuthTokens | undefined {
    return this.#tokens;
  }

  saveTokens(tokens: OAuthTokens): void {
    this.#tokens = tokens;
  }

  redirectToAuthorization(url: URL): void {
    this.sentTo = url;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }
}

/** An authorization server, as clients see it. */
export type FrontPlace = Pick<FrontWorld, "base" | "url" | "resource">;

/** Registers a client. */
export async function register({ url }: FrontPlace, metadata: unknown) {
  const body = typeof metadata === "string" ? metadata : JSON.stringify(metadata);
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${url}/register`, { method: "POST", headers, body });
  const client: Readonly<Record<string, unknown>> = Object(await response.json());
  return { status: response.status, client, id: String(client.client_id) };
}

/** PKCE of a client. */
export interface Pkce {
  readonly verifier: string;
  readonly challenge: string;
}

/** Returns a fresh verifier and its challenge. */
export function freshPkce(): Pkce {
  const verifier = randomBytes(32).toString("base64url");
  return { verifier, challenge: createHash("sha256").update(verifier).digest("base64url") };
}

/** Returns the URL of an authorization request; `undefined` leaves a parameter out. */
export function authorizeUrl(
  { url, resource }: FrontPlace,
  clientId: string,
  { challenge }: Pkce,
  changed: Readonly<Record<string, string | undefined>> = {},
): string {
  const parameters = {
    response_type: "code",
    client_id: clientId,
    redirect_uri: LOOPBACK,
    state: "s",
    code_challenge: challenge,
    code_challenge_method: "S256",
    resource,
    ...changed,
  };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) query.set(name, value);
  return `${url}/authorize?${query}`;
}

/** Answers the question of a page. Returns the page after it. */
export async function answer(
  agent: UserAgent,
  { base, url }: FrontPlace,
  page: Page,
  decision: "allow" | "deny" = "allow",
  headers: Readonly<Record<string, string>> = { origin: base },
): Promise<Page> {
  const request = /name="request" value="([^"]*)"/.exec(page.body)?.[1] ?? "";
  return agent.ask(`${url}/consent`, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    body: new URLSearchParams({ request, decision }).toString(),
  });
}

/** Returns the URL to which a page leads on. */
export function onwardUrl({ body }: Page): string {
  const [, url = ""] = /http-equiv="refresh" content="0;url=([^"]*)"/.exec(body) ?? [];
  return url.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
}

/** Logs in at the provider. Returns the URL to which it sends the browser, which is the gateway's. */
export async function logInAtProvider(
  agent: UserAgent,
  { base }: FrontPlace,
  start: string,
  name: string,
): Promise<string> {
  let next = await agent.ask(start);
  for (let hops = 0; hops < 20; hops += 1) {
    if (next.location?.startsWith(base)) return next.location;
    if (next.location !== undefined) next = await agent.ask(next.location);
    else
      next = await agent.ask(next.url, {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: `login=${name}`,
      });
  }
  throw new Error("the provider does not redirect");
}

/** Allows a client, and logs in. Returns the URL to which the gateway sends the browser: the client's. */
export async function allow(
  agent: UserAgent,
  world: FrontPlace,
  start: string,
  name: string,
): Promise<URL> {
  const page = await agent.ask(start);
  if (page.status !== 200) throw new Error(`no question: ${page.status} ${page.body}`);
  const onward = onwardUrl(await answer(agent, world, page));
  const returned = await logInAtProvider(agent, world, onward, name);
  const { location, status, body } = await agent.ask(returned);
  if (location === undefined) throw new Error(`no redirect: ${status} ${body}`);
  return new URL(location);
}

/** Requests tokens as a client. */
export async function requestTokens(
  { url }: FrontPlace,
  form: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
) {
  const body = new URLSearchParams(form);
  const response = await fetch(`${url}/token`, { method: "POST", body, headers });
  const tokens: Readonly<Record<string, unknown>> = Object(await response.json());
  return { status: response.status, tokens };
}
