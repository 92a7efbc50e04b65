import {
  mayHaveSubscription,
  type SubscriptionToken,
  subscriptionToken,
} from "../../auth/subscription-tokens.ts";
import type { Exchange } from "../../http/exchange.ts";
import { withoutLines, withoutOtherLines } from "../../http/headers/header-lines.ts";
import { headerValue, withoutHeaders } from "../../http/headers/header-list.ts";
import { endToEnd } from "../../http/headers/hop-by-hop.ts";
import { fieldLines } from "../../http/http1/fields.ts";
import type { ErrorFormat } from "../chat/formats.ts";
import {
  BODY_HEADERS,
  type KeyHeaderName,
  keyHeaderName,
  type Provider,
  VENDOR_PREFIXES,
} from "../providers/provider.ts";
import type { LlmTarget } from "./target.ts";

/**
 * Returns the headers of a request to a provider: the client's without those that are not meant for it, plus the provider's
 * own and those that the body requires (`required`).
 */
export function requestHeaders(
  exchange: Exchange,
  target: LlmTarget,
  path: string,
  required: readonly string[],
): string[] {
  const { provider, isNative } = target;
  const kept = withoutHeaders(endToEnd(exchange.requestHeaders, "host"), provider.replaced);
  const headers = isNative ? kept : withoutVendors(kept);
  const type = target.typeOf?.(exchange);
  const ofBody =
    type === undefined ? BODY_HEADERS : ["content-type", type, "accept-encoding", "identity"];
  return headers.concat(ownHeaders(exchange, provider, path), required, ofBody);
}

/**
 * Returns the same headers as raw lines; `undefined` if they did not arrive as lines, or the provider does not take lines.
 */
export function requestLines(
  exchange: Exchange,
  { provider, isNative, typeOf }: LlmTarget,
  path: string,
  required: readonly string[],
): string | undefined {
  // With a trace, the client's trace header is replaced, so its lines cannot be forwarded.
  const mayPass = exchange.trace === undefined && typeOf === undefined && required.length === 0;
  if (!mayPass || provider.upstream.sendLines === undefined) return undefined;
  const sent = exchange.requestLines;
  const own = provider.headerLines;
  if (sent === undefined || own === undefined) return undefined;
  const replaced = isNative ? provider.replacedLines : provider.foreignLines;
  const name = provider.clientKey && keyHeaderName(provider.clientKey, path);
  const token = name !== undefined && mayHaveSubscription(sent) ? tokenOf(exchange) : undefined;
  // Fast path: the key is mostly in the header where the provider reads it.
  const kept = name && token === undefined ? withoutOtherLines(sent, replaced, name) : undefined;
  if (kept !== undefined) return kept + own;
  const key = fieldLines(keyHeader(exchange, provider, name, token));
  return key === undefined ? undefined : withoutLines(sent, replaced) + own + key;
}

/** Returns the headers of a request that passes through, apart from credentials. */
export function passedHeaders(exchange: Exchange, provider: Provider, path: string): string[] {
  const headers = withoutHeaders(endToEnd(exchange.requestHeaders, "host"), provider.withheld);
  return headers.concat(ownHeaders(exchange, provider, path));
}

/** Returns the headers of the provider, and the client's key if the provider uses that. */
function ownHeaders(exchange: Exchange, provider: Provider, path: string): string[] {
  const name = provider.clientKey && keyHeaderName(provider.clientKey, path);
  const token = name === undefined ? undefined : tokenOf(exchange);
  return [...provider.headers, ...keyHeader(exchange, provider, name, token)];
}

/**
 * Returns the header of the client's key as the provider reads it; empty if the gateway has its own key, or the client sent
 * none. `name`: of the provider's header for the client's key. `token`: that of the client's subscription.
 */
function keyHeader(
  exchange: Exchange,
  { system }: Provider,
  name: KeyHeaderName | undefined,
  token: SubscriptionToken | undefined,
): readonly string[] {
  if (name === undefined) return NO_HEADERS;
  if (token !== undefined) {
    const { systems, header } = token;
    return systems.includes(system) ? [header, exchange.header(header) ?? ""] : NO_HEADERS;
  }
  const key = clientCredential(exchange, name);
  return key === undefined ? NO_HEADERS : [name, key];
}

const NO_HEADERS: readonly string[] = [];

function tokenOf(exchange: Exchange): SubscriptionToken | undefined {
  return subscriptionToken((name) => exchange.header(name));
}

/** Returns the client's key in the form of another header. */
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

/** Removes headers that a vendor defined for its own API. */
function withoutVendors(headers: readonly string[]): string[] {
  const kept: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? "";
    if (!VENDOR_HEADER.test(name)) kept.push(name, headers[i + 1] ?? "");
  }
  return kept;
}

const VENDOR_HEADER = new RegExp(`^(?:${VENDOR_PREFIXES.join("|")})`, "i");

/**
 * Returns the headers of a provider's response that a client gets with a body created by the gateway. The provider's ID of the
 * request is also in the header where the client's SDK reads it.
 */
export function forwardedHeaders(
  headers: readonly string[],
  { given }: Provider,
  { requestIdHeader }: ErrorFormat,
): string[] {
  const kept: string[] = [];
  const id = requestIdOf(headers);
  if (id !== undefined && headerValue(headers, requestIdHeader) === undefined) {
    kept.push(requestIdHeader, id);
  }
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? "";
    const isGiven = given.size > 0 && given.has(name.toLowerCase());
    if (isGiven || FORWARDED.test(name)) kept.push(name, headers[i + 1] ?? "");
  }
  return kept;
}

/** Returns the ID that a provider gave a request; `undefined` if it gave none. */
export function requestIdOf(headers: readonly string[]): string | undefined {
  for (let i = 0; i < headers.length; i += 2) {
    if (REQUEST_ID.test(headers[i] ?? "")) return headers[i + 1];
  }
  return undefined;
}

/** Headers of OpenAI, Anthropic, Bedrock and Azure with IDs of requests. */
const REQUEST_ID = /^(?:(?:x-)?request-id|x-amzn-requestid|apim-request-id)$/i;

const FORWARDED =
  /^(?:retry-after(?:-ms)?|x-ratelimit-.*|anthropic-ratelimit-.*|(?:x-)?request-id|x-should-retry)$/i;

/** Whether a Content-Type is an event stream of any kind. */
export function isEventStream(type: string): boolean {
  if (type === "application/json") return false;
  return /^(?:text\/event-stream|application\/vnd\.amazon\.eventstream)\s*(?:;|$)/i.test(type);
}

/** Whether a Content-Type is JSON. */
export function isJson(type: string): boolean {
  return type === "application/json" || /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type);
}
