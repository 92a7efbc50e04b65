import type { Exchange, Handler } from "../http/exchange.ts";
import { AcmeRecords } from "./acme-records.ts";

/** Path of the responses, before the token (RFC 8555 8.3). */
const PREFIX = "/.well-known/acme-challenge/";

/** A token in base64url (RFC 8555 8.1), with a bound on its length. */
const TOKEN = /^[A-Za-z0-9_-]{16,256}$/;

/**
 * Answers the ACME server's requests for a token of this gateway, at any thread or replica. Other requests, and other tokens,
 * are routed.
 */
export function serveChallenges(handle: Handler): Handler {
  return (exchange) => {
    const { target } = exchange;
    if (!target.startsWith(PREFIX)) return handle(exchange);
    const token = target.slice(PREFIX.length);
    return TOKEN.test(token) ? respondTo(exchange, token, handle) : handle(exchange);
  };
}

async function respondTo(exchange: Exchange, token: string, handle: Handler): Promise<void> {
  const records = AcmeRecords.of(exchange.gateway);
  // Without its store, the gateway knows no token. The server asks again.
  const found = await records?.challengeResponse(httpChallengeId(token)).catch(() => undefined);
  if (typeof found?.response !== "string") {
    await handle(exchange);
    return;
  }
  exchange.record.route = "acme";
  exchange.respond(200, ["content-type", "application/octet-stream"], found.response);
}

/** Returns the id of the response for a token. */
export function httpChallengeId(token: string): string {
  return `http-01 ${token}`;
}
