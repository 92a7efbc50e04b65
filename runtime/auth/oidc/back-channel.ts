import type { JsonObject } from "../../cel/variables.ts";
import { readWhole } from "../../http/buffer-body.ts";
import { type Exchange, logFields } from "../../http/exchange.ts";
import { isJsonObject } from "../../json/json-object.ts";
import { InvalidToken } from "../jwt/invalid-token.ts";
import type { JwtVerifier } from "../jwt/verifier.ts";
import { isCrossSite } from "./browser.ts";

/** A logout at the provider: of one login, of all logins of a user, or both. */
export interface ProviderLogout {
  readonly issuer: string;
  /** The user; `undefined` if the provider names only a login. */
  readonly subject: string | undefined;
  /** Id of the login at the provider; `undefined` if all logins of the user end. */
  readonly sid: string | undefined;
  /** Seconds since 1970, by the clock of the provider. Later logins continue. */
  readonly time: number;
}

/** Maximum bytes of a form with a logout token. */
const MAX_FORM = 32_768;
/** Member of `events` that makes a token a logout token. */
const EVENT = "http://schemas.openid.net/event/backchannel-logout";

/**
 * Answers a request of the provider that announces a logout (OpenID Connect Back-Channel Logout 1.0). `end` ends the logins at
 * all replicas. Returns after the response.
 */
export async function respondToLogout(
  exchange: Exchange,
  verifier: JwtVerifier,
  end: (logout: ProviderLogout) => Promise<void>,
): Promise<void> {
  if (exchange.method !== "POST" || isCrossSite(exchange))
    return refuseLogout(exchange, "logouts are announced with POST by the login server");
  const body = await readWhole(exchange, MAX_FORM, null);
  if (body === undefined) return;
  const token = new URLSearchParams(body.toString("utf8")).get("logout_token") ?? "";
  const claims = await verifier.check(token, exchange.gateway);
  if (claims === "unavailable") {
    respond(exchange, 503, { error: "temporarily_unavailable" });
    return;
  }
  if (claims instanceof InvalidToken) return refuseLogout(exchange, claims.reason);
  const logout = logoutOf(claims);
  if (typeof logout === "string") return refuseLogout(exchange, logout);
  await end(logout);
  const { issuer: iss, subject: sub } = logout;
  // Connections of the user end with the login.
  if (sub !== undefined) await exchange.onLogout?.({ iss, sub });
  if (sub !== undefined) logFields(exchange.record).set("jwt.sub", sub);
  respond(exchange, 200, {});
}

/** Returns the logout that a token announces, or why it announces none. */
function logoutOf({ iss, sub, sid, iat, events, nonce }: JsonObject): ProviderLogout | string {
  // An id token has a nonce: without this check, it could be sent as a logout token.
  if (nonce !== undefined) return "the logout token has a nonce";
  if (!isJsonObject(events) || !isJsonObject(events[EVENT])) return "the token announces no logout";
  const [subject, login] = [sub, sid].map((each) =>
    typeof each === "string" && each !== "" ? each : undefined,
  );
  if (subject === undefined && login === undefined)
    return "the logout token names neither a user nor a login";
  return { issuer: String(iss), subject, sid: login, time: Number(iat) };
}

function refuseLogout(exchange: Exchange, problem: string): void {
  logFields(exchange.record).set("error", problem);
  respond(exchange, 400, { error: "invalid_request", error_description: problem });
}

function respond(exchange: Exchange, status: number, body: object): void {
  exchange.record.reason = status === 200 ? "DirectResponse" : "Oidc";
  const headers = ["content-type", "application/json", "cache-control", "no-store"];
  exchange.respond(status, headers, JSON.stringify(body));
}
