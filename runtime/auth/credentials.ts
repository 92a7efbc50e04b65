import type { Exchange } from "../http/exchange.ts";
import type {
  CredentialKind,
  CredentialLocation,
  StrippedCredential,
} from "../http/headers/credential-location.ts";
import { withoutHeader, withoutLookalikes } from "../http/headers/header-list.ts";
import { cookieValue, withoutCookie } from "../http/headers/request-cookies.ts";
import { queryValue, withoutParameter } from "../http/routing/query.ts";

/**
 * Returns the credential of a request, even if a policy of the same kind has stripped it before routing; `undefined` if it
 * is absent.
 */
export function credentialIn(
  exchange: Exchange,
  location: CredentialLocation,
  kind: CredentialKind,
): string | undefined {
  const value =
    valueIn(exchange, location) ?? strippedFrom(exchange.strippedCredentials, location, kind);
  if (value === undefined || !("header" in location)) return value;
  const { prefix } = location;
  if (prefix === "") return value.trim();
  if (value.slice(0, prefix.length).toLowerCase() !== prefix.toLowerCase()) return undefined;
  return value.slice(prefix.length).trim();
}

/** Removes a checked credential from the request, so that no upstream sees it. */
export function stripCredential(
  exchange: Exchange,
  location: CredentialLocation,
  kind: CredentialKind,
): void {
  if ("expression" in location) return;
  const value = valueIn(exchange, location);
  if (value === undefined) return;
  exchange.strippedCredentials = { kind, location, value, before: exchange.strippedCredentials };
  if ("header" in location) exchange.removeRequestHeader(location.header);
  else if ("cookie" in location) removeCookie(exchange, location.cookie);
  else exchange.reroute({ target: withoutParameter(exchange.target, location.queryParameter) });
}

/** Restores stripped credentials for an upstream that should receive them. */
export function restoreCredentials(exchange: Exchange): void {
  for (let each = exchange.strippedCredentials; each !== undefined; each = each.before) {
    const { location, value } = each;
    if ("header" in location) {
      exchange.setRequestHeader(location.header, value);
    } else if ("cookie" in location) {
      const others = exchange.header("cookie");
      const own = `${location.cookie}=${value}`;
      exchange.setRequestHeader("cookie", others === undefined ? own : `${others}; ${own}`);
    } else if ("queryParameter" in location) {
      const target = exchange.upstreamTarget;
      const own = `${encodeURIComponent(location.queryParameter)}=${encodeURIComponent(value)}`;
      exchange.upstreamTarget = `${target}${target.includes("?") ? "&" : "?"}${own}`;
    }
  }
}

function valueIn(exchange: Exchange, location: CredentialLocation): string | undefined {
  if ("header" in location) {
    removeLookalikes(exchange, location.header);
    return exchange.header(location.header);
  }
  if ("queryParameter" in location) return queryValue(exchange.query, location.queryParameter);
  if ("cookie" in location) return cookieValue(exchange.header("cookie"), location.cookie);
  const value = location.expression(exchange);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Upstreams must not read another header as the checked credential. */
function removeLookalikes(exchange: Exchange, name: string): void {
  const { requestHeaders } = exchange;
  const kept = withoutLookalikes(requestHeaders, name);
  if (kept !== requestHeaders) exchange.replaceRequestHeaders(withoutHeader(kept, "host"));
}

function strippedFrom(
  strippedCredentials: StrippedCredential | undefined,
  location: CredentialLocation,
  kind: CredentialKind,
): string | undefined {
  for (let each = strippedCredentials; each !== undefined; each = each.before) {
    if (each.kind === kind && isSame(each.location, location)) return each.value;
  }
  return undefined;
}

function isSame(a: CredentialLocation, b: CredentialLocation): boolean {
  if ("header" in a) return "header" in b && a.header === b.header;
  if ("cookie" in a) return "cookie" in b && a.cookie === b.cookie;
  return "queryParameter" in a && "queryParameter" in b && a.queryParameter === b.queryParameter;
}

function removeCookie(exchange: Exchange, name: string): void {
  const left = withoutCookie(exchange.header("cookie") ?? "", name);
  if (left === "") exchange.removeRequestHeader("cookie");
  else exchange.setRequestHeader("cookie", left);
}
