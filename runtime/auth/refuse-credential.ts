import type { Exchange, RefusalReason } from "../http/exchange.ts";
import type { CredentialLocation } from "../http/headers/credential-location.ts";
import { refuse } from "../http/refuse.ts";

/**
 * Refuses a request without a valid credential: 401 with WWW-Authenticate, or 407 with Proxy-Authenticate if the credential
 * is for a proxy (RFC 9110 15.5.8). `challenge` is `undefined` if the policy has none; a 407 always has one.
 */
export function refuseCredential(
  exchange: Exchange,
  location: CredentialLocation,
  refusal: {
    readonly reason: RefusalReason;
    readonly message: string;
    readonly challenge?: string;
  },
): void {
  const { reason, message, challenge } = refusal;
  if ("header" in location && location.header === "proxy-authorization") {
    const header = challenge ?? location.prefix.trimEnd();
    refuse(exchange, 407, reason, message, ["proxy-authenticate", header]);
    return;
  }
  const headers = challenge === undefined ? [] : ["www-authenticate", challenge];
  refuse(exchange, 401, reason, message, headers);
}
