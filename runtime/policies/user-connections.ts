import { createHash, randomBytes } from "node:crypto";
import { respondPage } from "../auth/browser-page.ts";
import {
  type DiscoveredServer,
  discoveredServer,
} from "../auth/connections/authorization-server.ts";
import {
  type ClientPlace,
  type ConfiguredClient,
  clientAt,
  clientDocument,
  requestAs,
} from "../auth/connections/connection-client.ts";
import { endGrant, grantOf } from "../auth/connections/granted-tokens.ts";
import { type GrantClient, Grants, userOf } from "../auth/connections/grants.ts";
import { connectedPage, connectPage, listPage } from "../auth/connections/pages.ts";
import { errorWord, TokensRefused } from "../auth/oauth/request-tokens.ts";
import { isCrossSite } from "../auth/oidc/browser.ts";
import { BrowserCookies, type CookieOwner, cookieNames } from "../auth/oidc/browser-cookies.ts";
import { sendBrowser } from "../auth/oidc/login.ts";
import { seconds } from "../auth/oidc/session.ts";
import type { JwtVariable } from "../cel/variables.ts";
import { readWhole } from "../http/buffer-body.ts";
import { type Exchange, logFields } from "../http/exchange.ts";
import { refuse } from "../http/refuse.ts";
import { queryValue } from "../http/routing/query.ts";
import { sealSession, unsealSession } from "../process/session-seal.ts";
import { SECOND } from "../process/units.ts";
import { StoreError } from "../store/store.ts";

/** A server whose users connect their accounts. */
export interface ConnectionServer {
  readonly name: string;
  /** URL of the server: the resource of its tokens (RFC 8707). */
  readonly resource: string;
  /** Issuer of its authorization server; absent if the server's metadata names it. */
  readonly issuer?: string;
  /** Absent if the gateway registers itself, or is known by its document. */
  readonly client?: ConfiguredClient;
  /** Requested scopes; those of the server's metadata if absent. */
  readonly scopes?: readonly string[];
}

/** A page where users connect their accounts. */
export interface UserConnections {
  /** URL of the page, without a slash at its end. */
  readonly url: string;
  /** Claim that names the user. */
  readonly userClaim: string;
  /** Namespace of the manifest that has it; absent in files. */
  readonly owner?: string;
  readonly servers: readonly ConnectionServer[];
}

/** Maximum duration of an authorization, in seconds. */
const AUTHORIZATION_TIME = 600;
/** Maximum bytes of a form. */
const MAX_FORM = 4_096;

/** An authorization that a browser has begun, sealed in its cookie. */
interface BegunAuthorization {
  readonly state: string;
  /** Secret whose digest was sent to the authorization server (RFC 7636). */
  readonly verifier: string;
  readonly user: string;
  readonly server: string;
  readonly issuer: string;
  readonly resource: string;
  /** Seconds since 1970. */
  readonly end: number;
}

/** Returns the owner of the cookies of a page. */
export function connectionCookies(url: string, owner?: string): CookieOwner {
  return { issuer: "user connections", clientId: owner ?? "gwc", redirectUri: url };
}

/**
 * Responds with the document about a client, which authorization servers request without a login. Returns whether it did. Also
 * removes what a user has granted when that user logs out.
 */
export function serveClientDocument(exchange: Exchange, settings: UserConnections): boolean {
  const endConnections = (claims: JwtVariable) => endAll(exchange, settings, claims);
  exchange.onLogout = endConnections;
  const [server, part] = addressed(exchange, settings);
  if (server === undefined || part !== "client.json" || exchange.method !== "GET") return false;
  const body = JSON.stringify(clientDocument(placeOf(settings, server)));
  exchange.record.reason = "DirectResponse";
  exchange.respond(200, ["content-type", "application/json", "cache-control", "max-age=300"], body);
  return true;
}

/** Removes what a user has granted at the servers of a page. */
async function endAll(
  exchange: Exchange,
  { userClaim, servers, owner }: UserConnections,
  claims: JwtVariable,
): Promise<void> {
  const user = userOf(claims, userClaim);
  const grants = Grants.of(exchange.gateway, owner);
  if (user === undefined || grants === undefined) return;
  try {
    for (const { name } of servers) {
      const end = await endGrant(grants, user, name);
      if (end === undefined) continue;
      grants.note(user, name, "revoked");
      noteProblem(exchange, end.problem);
    }
  } catch (error) {
    // The login ends in any case; the connection is still listed on the page.
    if (!(error instanceof StoreError)) throw error;
    logFields(exchange.record).set("error", error.message);
  }
}

/** Responds to a request for the page, for the user who has logged in. */
export async function serveConnections(
  exchange: Exchange,
  jwt: JwtVariable,
  settings: UserConnections,
): Promise<void> {
  try {
    await servePage(exchange, jwt, settings);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    logFields(exchange.record).set("error", error.message);
    refusePage(exchange, 503, "the store for connections does not respond");
  }
}

async function servePage(
  exchange: Exchange,
  jwt: JwtVariable,
  settings: UserConnections,
): Promise<void> {
  const user = userOf(jwt, settings.userClaim);
  const grants = Grants.of(exchange.gateway, settings.owner);
  if (user === undefined) return refusePage(exchange, 403, "your login does not name a user");
  if (grants === undefined) return refusePage(exchange, 503, "there is no store for connections");
  const [server, part] = addressed(exchange, settings);
  const page: Page = { exchange, settings, user, grants };
  if (server === undefined) {
    if (part !== "" || exchange.method !== "GET") return refusePage(exchange, 404, "not found");
    const servers = await Promise.all(
      settings.servers.map(async ({ name }) => ({
        name,
        isConnected: (await grants.read(user, name)) !== undefined,
      })),
    );
    respondPage(exchange, listPage(settings.url, servers));
    return;
  }
  if (part === "callback" && exchange.method === "GET") return finish(page, server);
  if (part !== "") return refusePage(exchange, 404, "not found");
  if (exchange.method === "POST") return change(page, server);
  return ask(page, server);
}

/** A request for the page. */
interface Page {
  readonly exchange: Exchange;
  readonly settings: UserConnections;
  readonly user: string;
  readonly grants: Grants;
}

/** Returns the server of a path, and the rest; `undefined` and an empty string for the page itself. */
function addressed(
  { path }: Exchange,
  { url, servers }: UserConnections,
): readonly [server: ConnectionServer | undefined, part: string] {
  const base = new URL(url).pathname.replace(/\/$/, "");
  if (path === base || path === `${base}/`) return [undefined, ""];
  if (!path.startsWith(`${base}/`)) return [undefined, "other"];
  const [name = "", ...rest] = path.slice(base.length + 1).split("/");
  const server = servers.find((each) => each.name === name);
  return [server, server === undefined ? "other" : rest.join("/")];
}

function placeOf({ url }: UserConnections, { name }: ConnectionServer): ClientPlace {
  return { redirectUri: `${url}/${name}/callback`, documentUrl: `${url}/${name}/client.json` };
}

/** Shows what the user is asked for. Nothing is granted without a click on this page. */
async function ask(
  { exchange, settings, user, grants }: Page,
  server: ConnectionServer,
): Promise<void> {
  const found = await discover(exchange, server);
  if (found === undefined) return;
  const isConnected = (await grants.read(user, server.name)) !== undefined;
  respondPage(
    exchange,
    connectPage({
      action: `${new URL(settings.url).pathname}/${server.name}`,
      name: server.name,
      resource: server.resource,
      issuer: found.server.issuer,
      scopes: scopesOf(server, found),
      isConnected,
    }),
    { target: formTargets(found.server.authorizationEndpoint) },
  );
}

/**
 * Returns where the form may lead. Browsers apply that to redirects as well, and authorization servers send users to login pages
 * of other sites.
 */
function formTargets(authorizationEndpoint: string): string {
  return new URL(authorizationEndpoint).protocol === "https:" ? "https:" : "https: http:";
}

/** Begins an authorization, or ends a connection, for a form of this page. */
async function change(page: Page, server: ConnectionServer): Promise<void> {
  const { exchange, settings, user, grants } = page;
  if (isCrossSite(exchange) || exchange.header("origin") !== new URL(settings.url).origin)
    return refusePage(exchange, 403, "the form is not of this page");
  const body = await readWhole(exchange, MAX_FORM, null);
  if (body === undefined) return;
  if (new URLSearchParams(body.toString("utf8")).get("action") !== "disconnect")
    return begin(page, server);
  const end = await endGrant(grants, user, server.name);
  if (end !== undefined) note(exchange, server.name, "revoked");
  noteProblem(exchange, end?.problem);
  sendBrowser(exchange, settings.url, []);
}

async function begin(
  { exchange, settings, user, grants }: Page,
  server: ConnectionServer,
): Promise<void> {
  const found = await discover(exchange, server);
  if (found === undefined) return;
  const client = await clientOf(exchange, settings, server, found, grants);
  if (client === undefined) return;
  const authorization: BegunAuthorization = {
    state: secret(),
    verifier: secret(),
    ...{ user, server: server.name, issuer: found.server.issuer, resource: server.resource },
    end: seconds() + AUTHORIZATION_TIME,
  };
  const scopes = scopesOf(server, found);
  const url = new URL(found.server.authorizationEndpoint);
  const parameters = {
    response_type: "code",
    client_id: client.clientId,
    redirect_uri: placeOf(settings, server).redirectUri,
    ...(scopes.length > 0 && { scope: scopes.join(" ") }),
    // OpenID Connect Core 11: a refresh token needs the user's consent.
    ...(scopes.includes("offline_access") && { prompt: "consent" }),
    state: authorization.state,
    code_challenge: createHash("sha256").update(authorization.verifier).digest("base64url"),
    code_challenge_method: "S256",
    resource: server.resource,
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  const cookies = cookiesOf(exchange, settings);
  const { sessionKeys } = exchange.gateway;
  const sealed = sealSession(sessionKeys, binding(cookies), JSON.stringify(authorization));
  const kept = cookies.keepLogin(authorization.state, sealed, AUTHORIZATION_TIME);
  sendBrowser(exchange, url.href, kept);
}

/** Takes the response of the authorization server: once, in the browser and for the user who began the authorization. */
async function finish(
  { exchange, settings, user, grants }: Page,
  server: ConnectionServer,
): Promise<void> {
  const { query } = exchange;
  const state = queryValue(query, "state") ?? "";
  const cookies = cookiesOf(exchange, settings);
  const begun = begunAuthorization(exchange, cookies, state);
  if (begun === undefined || begun.server !== server.name)
    return refusePage(exchange, 400, "this connection was not started in this browser");
  if (begun.user !== user)
    return refusePage(exchange, 403, "this connection was started by another user");
  if (!(await grants.useState(state, begun.end * SECOND)))
    return refusePage(exchange, 400, "this connection was already completed");
  exchange.addResponseHeader("set-cookie", cookies.dropLogin(state));
  const found = await discover(exchange, server);
  if (found === undefined) return;
  const issuer = queryValue(query, "iss");
  const isOther = issuer === undefined ? found.server.namesIssuer : issuer !== begun.issuer;
  if (isOther || found.server.issuer !== begun.issuer || server.resource !== begun.resource)
    return refusePage(exchange, 400, "the response is from another authorization server");
  const code = queryValue(query, "code");
  if (code === undefined) {
    const word = errorWord(queryValue(query, "error"));
    const problem = word === undefined ? "refused" : `refused: ${word}`;
    return refusePage(exchange, 403, `the authorization server ${problem}`);
  }
  const client = await clientOf(exchange, settings, server, found, grants);
  if (client === undefined) return;
  const { tokenEndpoint, revocationEndpoint } = found.server;
  try {
    const response = await requestAs(client, tokenEndpoint, [
      ["grant_type", "authorization_code"],
      ["code", code],
      ["redirect_uri", placeOf(settings, server).redirectUri],
      ["code_verifier", begun.verifier],
      ["resource", server.resource],
    ]);
    const grant = grantOf(response, {
      resource: server.resource,
      tokenEndpoint,
      ...(revocationEndpoint !== undefined && { revocationEndpoint }),
      client,
    });
    await grants.write(user, server.name, grant);
    note(exchange, server.name, "granted");
    respondPage(exchange, connectedPage(server.name, settings.url));
  } catch (error) {
    logFields(exchange.record).set("error", error instanceof Error ? error.message : String(error));
    const status = error instanceof TokensRefused ? 400 : 502;
    refusePage(exchange, status, "the authorization server did not issue a token");
  }
}

function begunAuthorization(
  exchange: Exchange,
  cookies: BrowserCookies,
  state: string,
): BegunAuthorization | undefined {
  const text = cookies.login(state);
  const unsealed = text && unsealSession(exchange.gateway.sessionKeys, binding(cookies), text);
  if (unsealed === undefined || unsealed === "") return undefined;
  // The sealed content was written by `begin`.
  const begun = JSON.parse(unsealed) as BegunAuthorization;
  return begun.state === state && begun.end > seconds() ? begun : undefined;
}

async function discover(
  exchange: Exchange,
  { resource, issuer, name }: ConnectionServer,
): Promise<DiscoveredServer | undefined> {
  try {
    return await discoveredServer(resource, issuer, exchange.gateway);
  } catch (error) {
    unreachable(exchange, name, error);
    return undefined;
  }
}

async function clientOf(
  exchange: Exchange,
  settings: UserConnections,
  server: ConnectionServer,
  { server: found }: DiscoveredServer,
  grants: Grants,
): Promise<GrantClient | undefined> {
  try {
    return await clientAt(found, server.client, placeOf(settings, server), grants);
  } catch (error) {
    unreachable(exchange, server.name, error);
    return undefined;
  }
}

function unreachable(exchange: Exchange, name: string, error: unknown): void {
  logFields(exchange.record).set("error", error instanceof Error ? error.message : String(error));
  refusePage(exchange, 503, `the authorization server of ${name} cannot be used`);
}

/** Returns the scopes to request. With `offline_access`, the server issues a token that renews the grant. */
function scopesOf({ scopes }: ConnectionServer, { server, scopes: own }: DiscoveredServer) {
  if (scopes !== undefined) return scopes;
  const more = server.scopes.includes("offline_access") && !own.includes("offline_access");
  return more ? [...own, "offline_access"] : own;
}

function cookiesOf(exchange: Exchange, { url, owner }: UserConnections): BrowserCookies {
  return new BrowserCookies(exchange, cookieNames(connectionCookies(url, owner)));
}

function binding({ name }: BrowserCookies): string {
  return `connection ${name}`;
}

function secret(): string {
  return randomBytes(32).toString("base64url");
}

/** Notes a change of a connection for the log and the audit log. */
function note({ record }: Exchange, name: string, event: "granted" | "revoked"): void {
  logFields(record).set("connection", name).set("connection.event", event);
}

/** Notes that tokens were removed here but not revoked, for the log. */
function noteProblem({ record }: Exchange, problem: string | undefined): void {
  if (problem !== undefined) logFields(record).set("error", problem);
}

function refusePage(exchange: Exchange, status: number, problem: string): void {
  refuse(exchange, status, "Oidc", problem, ["cache-control", "no-store"]);
}
