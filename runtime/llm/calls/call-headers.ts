import type { Exchange } from "../../http/exchange.ts";
import { headerValue, withoutHeaders } from "../../http/headers/header-list.ts";
import { endToEnd } from "../../http/headers/hop-by-hop.ts";
import { keyHeaderName } from "../providers/key-header-name.ts";
import type { KeyHeaderName, Provider } from "../providers/provider.ts";
import type { LlmTarget } from "./target.ts";

/** The headers of a request to a provider: the client's, less what is not for it, and the provider's own. */
export function requestHeaders(
  { requestHeaders: sent }: Exchange,
  target: LlmTarget,
  path: string,
): string[] {
  const { provider, isNative } = target;
  const kept = withoutHeaders(endToEnd(sent, "host"), provider.replaced);
  const headers = isNative ? kept : kept.filter(isNeutral);
  address(headers, sent, provider, path);
  headers.push("content-type", "application/json", "accept-encoding", "identity");
  return headers;
}

/** The headers of a request that passes as it is, but for credentials. */
export function passedHeaders(
  { requestHeaders: sent }: Exchange,
  provider: Provider,
  path: string,
): string[] {
  const headers = withoutHeaders(endToEnd(sent, "host"), provider.withheld);
  address(headers, sent, provider, path);
  return headers;
}

/** Adds the headers of a provider's own, and the client's key where it is meant to have that. */
function address(
  headers: string[],
  sent: readonly string[],
  provider: Provider,
  path: string,
): void {
  const clientKey = provider.clientKey && keyHeaderName(provider.clientKey, path);
  const key = clientKey && clientCredential(sent, clientKey);
  if (clientKey !== undefined && key !== undefined) headers.push(clientKey, key);
  headers.push(...provider.headers, "host", provider.upstream.authority);
}

/** The client's key, as a provider with another header for it reads it. */
function clientCredential(sent: readonly string[], header: KeyHeaderName): string | undefined {
  const same = headerValue(sent, header);
  if (same !== undefined) return same;
  if (header === "authorization") {
    const key =
      headerValue(sent, "x-api-key") ??
      headerValue(sent, "api-key") ??
      headerValue(sent, "x-goog-api-key");
    return key && `Bearer ${key}`;
  }
  return headerValue(sent, "authorization")?.replace(/^Bearer +/i, "");
}

/** Whether an item of a flat list belongs to a header that no vendor made for its own API. */
function isNeutral(_: string, index: number, list: readonly string[]): boolean {
  return !vendorHeader.test(list[index - (index % 2)] ?? "");
}

const vendorHeader = /^(?:anthropic|openai|x-goog|x-stainless|x-amzn?|x-bedrock|chatgpt)-/i;

/** The headers of a provider's response that a client gets beside a body of the gateway's own making. */
export function forwardedHeaders(headers: readonly string[], { given }: Provider): string[] {
  return headers.filter((_, index) => {
    const name = headers[index - (index % 2)] ?? "";
    return forwarded.test(name) || (given.size > 0 && given.has(name.toLowerCase()));
  });
}

const forwarded =
  /^(?:retry-after(?:-ms)?|x-ratelimit-.*|anthropic-ratelimit-.*|(?:x-)?request-id|x-should-retry)$/i;

/** Whether a response is an event stream of any kind. */
export function isEventStream(headers: readonly string[]): boolean {
  const type = headerValue(headers, "content-type") ?? "";
  if (type === "application/json") return false;
  return /^(?:text\/event-stream|application\/vnd\.amazon\.eventstream)\s*(?:;|$)/i.test(type);
}

/** Whether a response says that it is JSON. */
export function isJson(headers: readonly string[]): boolean {
  const type = headerValue(headers, "content-type") ?? "";
  return type === "application/json" || /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type);
}
