import type { Exchange } from "../../http/exchange.ts";
import { withoutLines, withoutOtherLines } from "../../http/headers/header-lines.ts";
import { withoutHeaders } from "../../http/headers/header-list.ts";
import { endToEnd } from "../../http/headers/hop-by-hop.ts";
import { fieldLines } from "../../http/http1/fields.ts";
import { keyHeaderName } from "../providers/key-header-name.ts";
import {
  BODY_HEADERS,
  type KeyHeaderName,
  type Provider,
  VENDOR_PREFIXES,
} from "../providers/provider.ts";
import type { LlmTarget } from "./target.ts";

/** The headers of a request to a provider: the client's, less what is not for it, and the provider's own. */
export function requestHeaders(exchange: Exchange, target: LlmTarget, path: string): string[] {
  const { provider, isNative } = target;
  const kept = withoutHeaders(endToEnd(exchange.requestHeaders, "host"), provider.replaced);
  const headers = isNative ? kept : withoutVendors(kept);
  return headers.concat(ownHeaders(exchange, provider, path), BODY_HEADERS);
}

/** The same as lines; undefined: they are no lines that came, or the provider takes none. */
export function requestLines(
  exchange: Exchange,
  { provider, isNative }: LlmTarget,
  path: string,
): string | undefined {
  // A trace puts a header of its own in the place of the client's.
  const mayPass = exchange.trace === undefined;
  if (!mayPass || provider.upstream.sendLines === undefined) return undefined;
  const sent = exchange.requestLines;
  const own = provider.headerLines;
  if (sent === undefined || own === undefined) return undefined;
  const replaced = isNative ? provider.replacedLines : provider.foreignLines;
  const name = provider.clientKey && keyHeaderName(provider.clientKey, path);
  // Mostly the key stands where the provider reads it.
  const kept = name && withoutOtherLines(sent, replaced, name);
  if (kept !== undefined) return kept + own;
  const key = fieldLines(keyHeader(exchange, provider, path));
  return key === undefined ? undefined : withoutLines(sent, replaced) + own + key;
}

/** The headers of a request that passes as it is, but for credentials. */
export function passedHeaders(exchange: Exchange, provider: Provider, path: string): string[] {
  const headers = withoutHeaders(endToEnd(exchange.requestHeaders, "host"), provider.withheld);
  return headers.concat(ownHeaders(exchange, provider, path));
}

/** The headers of a provider's own, and the client's key where it is meant to have that. */
function ownHeaders(exchange: Exchange, provider: Provider, path: string): string[] {
  return [...provider.headers, ...keyHeader(exchange, provider, path)];
}

/** The client's key as the provider reads it; empty: the gateway has its own, or there is none. */
function keyHeader(exchange: Exchange, { clientKey }: Provider, path: string): readonly string[] {
  const name = clientKey && keyHeaderName(clientKey, path);
  const key = name && clientCredential(exchange, name);
  return name === undefined || key === undefined ? noHeaders : [name, key];
}

const noHeaders: readonly string[] = [];

/** The client's key, as a provider with another header for it reads it. */
function clientCredential(exchange: Exchange, header: KeyHeaderName): string | undefined {
  const same = exchange.header(header);
  if (same !== undefined) return same;
  if (header === "authorization") {
    const key =
      exchange.header("x-api-key") ??
      exchange.header("api-key") ??
      exchange.header("x-goog-api-key");
    return key && `Bearer ${key}`;
  }
  return exchange.header("authorization")?.replace(/^Bearer +/i, "");
}

/** Without the headers that a vendor made for its own API. */
function withoutVendors(headers: readonly string[]): string[] {
  const kept: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? "";
    if (!vendorHeader.test(name)) kept.push(name, headers[i + 1] ?? "");
  }
  return kept;
}

const vendorHeader = new RegExp(`^(?:${VENDOR_PREFIXES.join("|")})`, "i");

/** The headers of a provider's response that a client gets beside a body of the gateway's own making. */
export function forwardedHeaders(headers: readonly string[], { given }: Provider): string[] {
  const kept: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? "";
    const isGiven = given.size > 0 && given.has(name.toLowerCase());
    if (isGiven || FORWARDED.test(name)) kept.push(name, headers[i + 1] ?? "");
  }
  return kept;
}

const FORWARDED =
  /^(?:retry-after(?:-ms)?|x-ratelimit-.*|anthropic-ratelimit-.*|(?:x-)?request-id|x-should-retry)$/i;

/** Whether a response of a Content-Type is an event stream of any kind. */
export function isEventStream(type: string): boolean {
  if (type === "application/json") return false;
  return /^(?:text\/event-stream|application\/vnd\.amazon\.eventstream)\s*(?:;|$)/i.test(type);
}

/** Whether a Content-Type says that it is JSON. */
export function isJson(type: string): boolean {
  return type === "application/json" || /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type);
}
