import type { RequestVariables } from "../../cel/variables.ts";
import type { Exchange } from "../exchange.ts";
import { queryValue, withoutParameter } from "../routing/query.ts";
import { cookieValue, withoutCookie } from "./request-cookies.ts";

/** Where a credential stands in a request. */
export type CredentialPlace =
  /** Lower-case name; `prefix` stands before it, with its space, in any case. Empty: nothing. */
  | { readonly header: string; readonly prefix: string }
  | { readonly queryParameter: string }
  | { readonly cookie: string }
  /** What it finds stays where it is: only its author knows where that was. */
  | { readonly expression: (request: RequestVariables) => unknown };

/** Whose credential it is. */
export type CredentialKind = "jwt" | "basicAuth" | "apiKey";

/** A credential that was checked and taken off a request. */
export interface TakenCredential {
  readonly kind: CredentialKind;
  readonly place: CredentialPlace;
  /** What stood in its place: the header's whole value, the parameter's or the cookie's. */
  readonly value: string;
  readonly before: TakenCredential | undefined;
}

/** The credential of a request, also when a policy of the kind has taken it before routing; undefined without one. */
export function credentialIn(
  exchange: Exchange,
  place: CredentialPlace,
  kind: CredentialKind,
): string | undefined {
  const value = valueIn(exchange, place) ?? takenFrom(exchange.taken, place, kind);
  if (value === undefined || !("header" in place)) return value;
  const { prefix } = place;
  if (prefix === "") return value.trim();
  if (value.slice(0, prefix.length).toLowerCase() !== prefix.toLowerCase()) return undefined;
  return value.slice(prefix.length).trim();
}

/** Takes a checked credential off the request, so that no upstream sees it. */
export function takeCredential(
  exchange: Exchange,
  place: CredentialPlace,
  kind: CredentialKind,
): void {
  if ("expression" in place) return;
  const value = valueIn(exchange, place);
  if (value === undefined) return;
  exchange.taken = { kind, place, value, before: exchange.taken };
  if ("header" in place) exchange.removeRequestHeader(place.header);
  else if ("cookie" in place) removeCookie(exchange, place.cookie);
  else exchange.reroute({ target: withoutParameter(exchange.target, place.queryParameter) });
}

/** Puts back what was taken, for an upstream that is meant to see it. */
export function restoreCredentials(exchange: Exchange): void {
  for (let each = exchange.taken; each !== undefined; each = each.before) {
    const { place, value } = each;
    if ("header" in place) {
      exchange.setRequestHeader(place.header, value);
    } else if ("cookie" in place) {
      const others = exchange.header("cookie");
      const own = `${place.cookie}=${value}`;
      exchange.setRequestHeader("cookie", others === undefined ? own : `${others}; ${own}`);
    } else if ("queryParameter" in place) {
      const target = exchange.forwardTarget;
      const own = `${encodeURIComponent(place.queryParameter)}=${encodeURIComponent(value)}`;
      exchange.forwardTarget = `${target}${target.includes("?") ? "&" : "?"}${own}`;
    }
  }
}

function valueIn(exchange: Exchange, place: CredentialPlace): string | undefined {
  if ("header" in place) return exchange.header(place.header);
  if ("queryParameter" in place) return queryValue(exchange.query, place.queryParameter);
  if ("cookie" in place) return cookieValue(exchange.header("cookie"), place.cookie);
  const value = place.expression(exchange);
  return typeof value === "string" && value !== "" ? value : undefined;
}

function takenFrom(
  taken: TakenCredential | undefined,
  place: CredentialPlace,
  kind: CredentialKind,
): string | undefined {
  for (let each = taken; each !== undefined; each = each.before) {
    if (each.kind === kind && isSame(each.place, place)) return each.value;
  }
  return undefined;
}

function isSame(a: CredentialPlace, b: CredentialPlace): boolean {
  if ("header" in a) return "header" in b && a.header === b.header;
  if ("cookie" in a) return "cookie" in b && a.cookie === b.cookie;
  return "queryParameter" in a && "queryParameter" in b && a.queryParameter === b.queryParameter;
}

function removeCookie(exchange: Exchange, name: string): void {
  const left = withoutCookie(exchange.header("cookie") ?? "", name);
  if (left === "") exchange.removeRequestHeader("cookie");
  else exchange.setRequestHeader("cookie", left);
}
