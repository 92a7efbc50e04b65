import { readSentKey } from "../contents/sent-key.ts";
import type { StrippedCredential } from "../http/headers/credential-location.ts";
import { headerValue, replaceHeader, withoutHeader } from "../http/headers/header-list.ts";
import { withoutCookie } from "../http/headers/request-cookies.ts";
import { withoutParameter } from "../http/routing/query.ts";
import type { CompleteCall, UpstreamCredential } from "../http/upstream/upstream.ts";
import { startupError } from "../process/startup-error.ts";
import { WatchedFile } from "../process/watched-file.ts";

/** Place of a credential in requests to a backend; `prefix` precedes it in the header, whose name is in lower case. */
export type SentPlace =
  | { readonly header: string; readonly prefix: string }
  | { readonly queryParameter: string }
  | { readonly cookie: string };

/** Sends a key in a header, a query parameter or a cookie. Throws StartupError if it has characters that none can carry. */
export function sentKey(place: SentPlace, key: string): UpstreamCredential {
  const value = readKey(key, place);
  return (call) => putCredential(call, place, value);
}

/** Sends a key from a file that is read at startup and when it changes. Throws StartupError. */
export function sentKeyFile(place: SentPlace, path: string): UpstreamCredential {
  const followed = new WatchedFile(path, (text) => withoutScheme(readSentKey(text), place));
  return (call) => putCredential(call, place, followed.current());
}

/**
 * Moves the client's token to another place: the one that a policy verified, or else that of `Authorization: Bearer`.
 * Requests without a token are sent without it.
 */
export function movedToken(place: SentPlace): UpstreamCredential {
  return (call) => {
    const token = takeToken(call);
    if (token !== undefined) putCredential(call, place, token);
  };
}

/** Adds several credentials, in this order. */
export function allCredentials(credentials: readonly UpstreamCredential[]): UpstreamCredential {
  return async (call) => {
    for (const add of credentials) await add(call);
  };
}

/** Puts a credential into a request, instead of a client's value there. */
export function putCredential(call: CompleteCall, place: SentPlace, value: string): void {
  if ("header" in place) {
    const others = withoutHeader(call.headers, place.header);
    call.headers.splice(0, call.headers.length, ...others, place.header, place.prefix + value);
  } else if ("cookie" in place) {
    const others = withoutCookie(headerValue(call.headers, "cookie") ?? "", place.cookie);
    const own = `${place.cookie}=${COOKIE_VALUE.test(value) ? value : encodeURIComponent(value)}`;
    replaceHeader(call.headers, "cookie", others === "" ? own : `${others}; ${own}`);
  } else {
    const { queryParameter: name } = place;
    const path = withoutParameter(call.path, name);
    const own = `${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
    call.path = `${path}${path.includes("?") ? "&" : "?"}${own}`;
  }
}

/** Characters of cookies (RFC 6265 4.1.1). */
const COOKIE_VALUE = /^[!#-+\--:<-[\]-~]*$/;

function readKey(key: string, place: SentPlace): string {
  try {
    return withoutScheme(readSentKey(key), place);
  } catch (error) {
    throw startupError(`a key for a backend ${error instanceof Error ? error.message : error}`);
  }
}

/** Removes the scheme of a whole Authorization value, unless that is the header's value here too. */
function withoutScheme(key: string, place: SentPlace): string {
  const isWhole = "header" in place && place.header === "authorization" && place.prefix === "";
  return isWhole ? key : key.replace(/^Bearer +/i, "");
}

function takeToken(call: CompleteCall): string | undefined {
  const stripped = strippedToken(call.exchange?.strippedCredentials);
  const location = stripped?.location ?? { header: "authorization", prefix: "Bearer " };
  const value =
    stripped?.value ??
    headerValue(call.headers, "authorization") ??
    call.exchange?.header("authorization");
  if ("header" in location) removeHeader(call, location.header);
  if ("cookie" in location) removeCookie(call, location.cookie);
  if ("queryParameter" in location)
    call.path = withoutParameter(call.path, location.queryParameter);
  const { prefix } = "header" in location ? location : { prefix: "" };
  if (value?.slice(0, prefix.length).toLowerCase() !== prefix.toLowerCase()) return undefined;
  const token = value.slice(prefix.length).trim();
  return token === "" ? undefined : token;
}

function strippedToken(newest: StrippedCredential | undefined): StrippedCredential | undefined {
  for (let each = newest; each !== undefined; each = each.before) {
    if (each.kind === "jwt") return each;
  }
  return undefined;
}

function removeHeader({ headers }: CompleteCall, name: string): void {
  headers.splice(0, headers.length, ...withoutHeader(headers, name));
}

function removeCookie(call: CompleteCall, name: string): void {
  const others = withoutCookie(headerValue(call.headers, "cookie") ?? "", name);
  if (others === "") removeHeader(call, "cookie");
  else replaceHeader(call.headers, "cookie", others);
}
