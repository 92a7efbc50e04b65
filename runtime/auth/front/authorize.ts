import { createHash, randomBytes } from "node:crypto";
import { readWhole } from "../../http/buffer-body.ts";
import type { Exchange } from "../../http/exchange.ts";
import { noteRefusal } from "../../http/refuse.ts";
import { MINUTE, SECOND } from "../../process/units.ts";
import { browserPage, escapeHtml, respondPage } from "../browser-page.ts";
import { addressIn } from "../connections/authorization-server.ts";
import { metadataOf } from "../oauth/metadata.ts";
import { MAX_OAUTH_REQUEST } from "../oauth/respond.ts";
import { isCrossSite } from "../oidc/browser.ts";
import { BrowserCookies, type CookieOwner, cookieNames } from "../oidc/browser-cookies.ts";
import { type ClientDescription, isRedirectOf } from "./client-bounds.ts";
import type { Front } from "./front-settings.ts";
import { clientOf } from "./mcp-clients.ts";
import { noteClient, redirectPlace } from "./note-client.ts";
import { uniqueParameters } from "./parameters.ts";
import { type Authorization, seal, sealDigest, unseal } from "./seals.ts";

/** Maximum duration of a question, and of a login at the provider, in milliseconds. */
const AUTHORIZATION_TIME = 10 * MINUTE;
/** Maximum characters of a client's state. */
const MAX_STATE = 1_000;
/** Maximum characters of a sealed authorization, which has to fit into a cookie. */
const MAX_SEALED = 3_700;

/** Returns the owner of the cookies of an authorization server. */
export function frontCookies(url: string): CookieOwner {
  return { issuer: "authorization server", clientId: "gwc", redirectUri: url };
}

/** Returns the cookies of an authorization server in one request. */
export function cookiesOf(exchange: Exchange, { url }: Front): BrowserCookies {
  return new BrowserCookies(exchange, cookieNames(frontCookies(url)));
}

/** Asks the person whether a client may get a token. Nothing else leads to the provider. */
export async function askPerson(exchange: Exchange, front: Front): Promise<void> {
  const parameters = uniqueParameters(exchange.query);
  if (parameters === undefined) return refusePage(exchange, 400, "a parameter is repeated");
  const id = parameters.get("client_id") ?? "";
  const client = await clientOf(exchange, front, id);
  if (typeof client === "string") return refusePage(exchange, 400, client);
  const redirectUri = redirectOf(parameters, client, front);
  if (redirectUri === undefined)
    return refusePage(exchange, 400, "the redirect URI is not one of this program's");
  const state = parameters.get("state");
  if (state !== undefined && state.length > MAX_STATE)
    return refusePage(exchange, 400, "the state is too long");
  const challenge = parameters.get("code_challenge") ?? "";
  const scopes = requestedScopes(parameters.get("scope"), front);
  const resource = parameters.get("resource");
  const error = errorOf(parameters, challenge, scopes, front);
  if (error !== undefined) {
    noteRefusal(exchange, "Oidc", error.error_description);
    sendToClient(exchange, responseUrl(redirectUri, front, { ...error, state }));
    return;
  }
  const cookies = cookiesOf(exchange, front);
  const known = cookies.session;
  const browser = known ?? secret();
  const question = {
    ...{
      client: sealDigest(id),
      name: client.name,
      redirectUri,
      state,
      challenge,
      scopes,
      resource,
    },
    browser: sealDigest(browser),
    end: Date.now() + AUTHORIZATION_TIME,
  };
  const sealed = seal(exchange.gateway, front, "question", question);
  if (sealed.length > MAX_SEALED) return refusePage(exchange, 400, "the request is too long");
  const action = `${new URL(front.url).pathname}/consent`;
  const { host } = new URL(front.issuer);
  respondPage(exchange, consentPage(question, action, sealed, host), {
    cookies: known === undefined ? (cookies.keepSession(browser) ?? []) : [],
  });
}

/** Takes the person's answer: from the page of this server, in the browser that was asked. */
export async function takeDecision(exchange: Exchange, front: Front): Promise<void> {
  if (isCrossSite(exchange) || exchange.header("origin") !== new URL(front.url).origin)
    return refusePage(exchange, 403, "the form is not of this page");
  const body = await readWhole(exchange, MAX_OAUTH_REQUEST, null);
  if (body === undefined) return;
  const form = uniqueParameters(body.toString("utf8"));
  const cookies = cookiesOf(exchange, front);
  const question = unseal(exchange.gateway, front, "question", form?.get("request") ?? "");
  if (question === undefined || sealDigest(cookies.session ?? "") !== question.browser)
    return refusePage(exchange, 400, "this was not started in this browser, or took too long");
  const { browser: _, end: __, ...authorization } = question;
  if (form?.get("decision") !== "allow") {
    noteClient(exchange, "declined", authorization.name, authorization.redirectUri);
    const parameters = { error: "access_denied", state: authorization.state };
    const url = responseUrl(authorization.redirectUri, front, parameters);
    respondPage(exchange, onwardPage("Denied", url, "Back to the program"));
    return;
  }
  await sendToProvider(exchange, front, cookies, authorization);
}

/** Begins the gateway's own authorization at the provider. */
async function sendToProvider(
  exchange: Exchange,
  front: Front,
  cookies: BrowserCookies,
  authorization: Authorization,
): Promise<void> {
  const metadata = await metadataOf(exchange, front);
  const endpoint = metadata && addressIn(metadata, "authorization_endpoint");
  if (endpoint === undefined)
    return refusePage(exchange, 503, "the identity provider cannot be reached");
  const own = { ownState: secret(), verifier: secret() };
  const { scopes, resource } = authorization;
  const url = new URL(endpoint);
  const parameters = {
    response_type: "code",
    client_id: front.client.clientId,
    redirect_uri: callbackOf(front),
    state: own.ownState,
    code_challenge: createHash("sha256").update(own.verifier).digest("base64url"),
    code_challenge_method: "S256",
    ...(scopes.length > 0 && { scope: scopes.join(" ") }),
    // OpenID Connect Core 11: a refresh token needs the user's consent.
    ...(scopes.includes("offline_access") && { prompt: "consent" }),
    ...(front.audience !== undefined && { audience: front.audience }),
    ...(resource !== undefined && front.sendsResource && { resource }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  const end = Date.now() + AUTHORIZATION_TIME;
  const sealed = seal(exchange.gateway, front, "login", { ...authorization, ...own, end });
  if (sealed.length > MAX_SEALED) return refusePage(exchange, 400, "the request is too long");
  noteClient(exchange, "allowed", authorization.name, authorization.redirectUri);
  const kept = cookies.keepLogin(own.ownState, sealed, AUTHORIZATION_TIME / SECOND);
  respondPage(exchange, onwardPage("Log in", url.href, `Continue at ${url.host}`), {
    cookies: kept,
  });
}

/** Returns the URL to which the provider returns browsers. */
export function callbackOf({ url }: Front): string {
  return `${url}/callback`;
}

/** Returns the URL of a response to a client, which names this server (RFC 9207). */
export function responseUrl(
  redirectUri: string,
  { url: issuer }: Front,
  parameters: Readonly<Record<string, string | undefined>>,
): string {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) url.searchParams.set(name, value);
  url.searchParams.set("iss", issuer);
  return url.href;
}

/** Redirects a browser, which tells nobody where it comes from. */
export function sendToClient(exchange: Exchange, location: string): void {
  exchange.record.reason ??= "Redirect";
  exchange.respond(302, [
    ...["location", location, "cache-control", "no-store", "referrer-policy", "no-referrer"],
  ]);
}

/** Responds to a person with a page that says what is wrong. */
export function refusePage(exchange: Exchange, status: number, problem: string): void {
  noteRefusal(exchange, "Oidc", problem);
  respondPage(exchange, refusalPage(problem), { status });
}

/** Returns the redirect URI of a request; a client with a single one need not name it (RFC 6749 3.1.2.3). */
function redirectOf(
  parameters: ReadonlyMap<string, string>,
  client: ClientDescription,
  front: Front,
): string | undefined {
  const [only, ...others] = client.redirectUris;
  const uri = parameters.get("redirect_uri") ?? (others.length === 0 ? only : undefined);
  return uri !== undefined && isRedirectOf(uri, client, front) ? uri : undefined;
}

/** Returns the requested scopes that clients may request, or all of them if the request names none. */
function requestedScopes(scope: string | undefined, { scopes }: Front): readonly string[] {
  const requested = (scope ?? "").split(" ").filter((each) => each !== "");
  return requested.length === 0 ? scopes : scopes.filter((each) => requested.includes(each));
}

interface ErrorResponse {
  readonly error: string;
  readonly error_description: string;
}

/** Returns why an authorization cannot begin (RFC 6749 4.1.2.1, RFC 7636 4.4.1, RFC 8707 2). */
function errorOf(
  parameters: ReadonlyMap<string, string>,
  challenge: string,
  scopes: readonly string[],
  front: Front,
): ErrorResponse | undefined {
  const found = (error: string, text: string) => ({ error, error_description: text });
  if (parameters.get("response_type") !== "code")
    return found("unsupported_response_type", "response_type must be code");
  const mode = parameters.get("response_mode") ?? "query";
  if (mode !== "query") return found("invalid_request", "response_mode must be query");
  if (parameters.has("request") || parameters.has("request_uri"))
    return found("request_not_supported", "request objects are not supported");
  if (parameters.get("code_challenge_method") !== "S256" || !/^[\w-]{43}$/.test(challenge))
    return found("invalid_request", "PKCE with S256 is required");
  if (front.scopes.length > 0 && scopes.length === 0)
    return found("invalid_scope", "none of the scopes may be requested");
  if (!isResourceAllowed(parameters.get("resource"), front))
    return found("invalid_target", "the resource is not one of this gateway");
  return undefined;
}

/** Whether tokens may be requested for a resource: one of the gateway's host, or one that is configured. */
export function isResourceAllowed(resource: string | undefined, front: Front): boolean {
  if (resource === undefined || front.resources.includes(resource)) return true;
  return (
    resource.length <= MAX_STATE &&
    URL.canParse(resource) &&
    new URL(resource).origin === new URL(front.url).origin
  );
}

function secret(): string {
  return randomBytes(32).toString("base64url");
}

/**
 * Returns the question whether a program may get a token. The name is only a claim, so the page shows where the program is: only
 * who controls that place gets the code.
 */
function consentPage(
  { name, redirectUri, scopes }: Authorization,
  action: string,
  sealed: string,
  provider: string,
): string {
  const program =
    name === undefined
      ? "A program without a name"
      : `A program that calls itself <strong id="client">${escapeHtml(name)}</strong>`;
  const wanted =
    scopes.length === 0
      ? ""
      : `<p>It asks for: ${scopes.map((each) => `<code>${escapeHtml(each)}</code>`).join(" ")}</p>`;
  return browserPage(
    "Allow this program?",
    `<p>${program} asks to use the tools of this gateway in your name.</p>
<p>It gets the access at <strong id="redirect">${escapeHtml(shownPlace(redirectUri))}</strong>.</p>${wanted}
<p>Allow it only if you have just started this in that program. You log in at <code>${escapeHtml(provider)}</code> next.</p>
<form method="post" action="${escapeHtml(action)}"><input type="hidden" name="request" value="${escapeHtml(sealed)}">
<button name="decision" value="deny">Deny</button> <button name="decision" value="allow">Allow</button></form>`,
  );
}

/**
 * Returns a page that leads on. Chromium applies `form-action` to all redirects after a form, up to the program's own address, so
 * the response to the form is a page and not a redirect.
 */
function onwardPage(title: string, url: string, label: string): string {
  const to = escapeHtml(url);
  return browserPage(
    title,
    `<p><a href="${to}" rel="noreferrer">${escapeHtml(label)}</a></p>`,
    `<meta http-equiv="refresh" content="0;url=${to}">`,
  );
}

/** Returns a page that says why there is no authorization. */
function refusalPage(problem: string): string {
  return browserPage("This program is not allowed", `<p>${escapeHtml(problem)}.</p>`);
}

function shownPlace(redirectUri: string): string {
  const place = redirectPlace(redirectUri);
  if (place.startsWith("https:")) return new URL(redirectUri).host;
  if (place.startsWith("http:")) return `this computer (${new URL(redirectUri).host})`;
  return `the program of this computer that opens ${place}`;
}
