import { hash } from "node:crypto";
import { toJson } from "../../cel/functions/json.ts";
import type { JsonObject } from "../../cel/variables.ts";
import type { Exchange } from "../../http/exchange.ts";
import { HOP_BY_HOP } from "../../http/headers/hop-by-hop.ts";
import { hasLongNumber, parseExact } from "../../json/exact-json.ts";
import { isJsonObject } from "../../json/json-object.ts";
import { hasRepeatedKey } from "../../json/json-text.ts";
import type { ComparedRequest } from "../cache/known-requests.ts";
import type { RequestDigest, ResponseCache } from "../cache/response-cache.ts";
import type { Provider } from "../providers/provider.ts";
import type { ChatCall } from "./chat-call.ts";
import { forwardedQuery } from "./forwarded-query.ts";
import { type LastQuestion, lastQuestion } from "./last-question.ts";
import { RequestOfCall } from "./request-of-call.ts";
import type { LlmTarget } from "./target.ts";

/**
 * Returns the digest of everything that the response to a call depends on: who shares it, the providers, and the request as
 * they may see it. `undefined` if the response must not be cached.
 */
export function cacheKey(
  exchange: Exchange,
  call: ChatCall,
  target: LlmTarget,
  cache: ResponseCache,
): RequestDigest | undefined {
  const scope = scopeOf(exchange, call, cache);
  if (scope === undefined) return undefined;
  const place = { exchange, call, target };
  const isShort = call.text.length <= MAX_COMPARED;
  const received = isShort ? new ReceivedCall(scope, place) : undefined;
  const known = received && cache.digestOf(received);
  if (known !== undefined) return { key: known, received };
  const body = cacheableBody(call);
  if (body === undefined) return undefined;
  return { key: digestOf(scope, body, place), received };
}

/** Maximum length of a request that is compared as it is. */
const MAX_COMPARED = 16_384;

/** A call as it was received, unless its text was changed since. */
class ReceivedCall implements ComparedRequest {
  readonly place: readonly string[];
  readonly headers: readonly string[];
  readonly body: Uint8Array;
  readonly #exchange: Exchange;
  readonly #provider: Provider;
  #relevant: readonly string[] | undefined;

  constructor(scope: string, { exchange, call, target }: CallPlace) {
    const { provider, pool = provider.name, requested = "" } = target;
    const { text, sent } = call;
    this.place = [scope, pool, requested, exchange.path, exchange.target];
    this.headers = exchange.requestHeaders;
    this.body = text === sent.text ? sent.bytes : Buffer.from(text);
    this.#exchange = exchange;
    this.#provider = provider;
  }

  get relevant(): readonly string[] {
    this.#relevant ??= relevantHeaders(this.#exchange, this.#provider);
    return this.#relevant;
  }
}

/**
 * Returns the digest of everything that the response to a call depends on, except for the last text of its user and with other
 * words for it; `undefined` if such a response must not be cached, or if there is no such text.
 */
export function questionGroup(
  place: CallPlace,
  cache: ResponseCache,
): (LastQuestion & { readonly group: string }) | undefined {
  const { exchange, call } = place;
  const scope = scopeOf(exchange, call, cache);
  const body = scope === undefined ? undefined : cacheableBody(call);
  const question = body && lastQuestion(body);
  if (scope === undefined || question === undefined) return undefined;
  // Texts that differ in a number only are similar, but seldom have the same answer.
  const numbers = question.text.match(/\p{N}+/gu) ?? [];
  return { ...question, group: digestOf(scope, question.rest, place, numbers) };
}

/** A call, and the provider that may respond to it. */
export interface CallPlace {
  readonly exchange: Exchange;
  readonly call: ChatCall;
  readonly target: LlmTarget;
}

function digestOf(
  scope: string,
  body: JsonObject,
  { exchange, call, target }: CallPlace,
  numbers?: readonly string[],
): string {
  const { provider, pool = provider.name, requested = "" } = target;
  const facts = [
    ...[scope, pool, exchange.path, forwardedQuery(exchange), call.model, requested, call.isStream],
    ...relevantHeaders(exchange, provider),
    ...(numbers === undefined ? [] : [numbers]),
  ];
  return hash("sha256", `${JSON.stringify(facts)}\n${canonicalText(body)}`, "base64");
}

/** Returns who shares the response as JSON; `undefined` if that is not known. */
function scopeOf(exchange: Exchange, call: ChatCall, { scope }: ResponseCache): string | undefined {
  if (scope === undefined) return verifiedCaller(exchange);
  const value = scope(new RequestOfCall(exchange, call));
  return value === undefined || value === null ? undefined : toJson(value);
}

/** Returns the verified identities of a request; `undefined` if it has none. */
export function verifiedCaller({
  attributes: { jwt },
  record: { caller },
}: Exchange): string | undefined {
  if (jwt === null && caller === undefined) return undefined;
  return JSON.stringify([jwt && subjectOf(jwt), caller]);
}

/** Returns what a token says about its holder. Without a subject, it is everything but the times and the id of the token. */
function subjectOf(claims: JsonObject): readonly unknown[] {
  const own = Object.entries(claims);
  const isNamed = own.some(([name]) => name === "sub");
  const names = isNamed ? HOLDER : own.map(([name]) => name).filter((name) => !OF_TOKEN.has(name));
  return names.toSorted().map((name) => [name, Object.hasOwn(claims, name) ? claims[name] : null]);
}

const HOLDER: readonly string[] = ["iss", "sub"];
const OF_TOKEN: ReadonlySet<string> = new Set(["exp", "iat", "nbf", "jti", "auth_time"]);

/**
 * Returns the headers on which a response may depend, as sorted pairs of names and values: those that the provider gets, except
 * for headers that never matter.
 */
function relevantHeaders({ requestHeaders }: Exchange, provider: Provider): readonly string[] {
  const pairs: string[] = [];
  for (let i = 0; i < requestHeaders.length; i += 2) {
    const name = (requestHeaders[i] ?? "").toLowerCase();
    if (!isRelevant(name, provider)) continue;
    pairs.push(`${name}: ${requestHeaders[i + 1] ?? ""}`);
  }
  return pairs.sort();
}

function isRelevant(name: string, { clientKey, replaced }: Provider): boolean {
  // The key of a client decides who pays, and what it may use.
  if (clientKey !== undefined && KEYS.has(name)) return true;
  if (replaced.has(name) || NEUTRAL.has(name) || HOP_BY_HOP.has(name)) return false;
  return !NEUTRAL_PREFIX.test(name);
}

const KEYS: ReadonlySet<string> = new Set([
  ...["authorization", "x-api-key", "api-key", "x-goog-api-key"],
]);

/** Headers about the client's software, its connection, or one request. */
const NEUTRAL: ReadonlySet<string> = new Set([
  ...["accept", "accept-encoding", "user-agent", "content-type", "host", "date", "priority"],
  ...["cache-control", "pragma", "dnt", "origin", "referer", "idempotency-key"],
  ...["via", "forwarded", "x-real-ip", "x-request-id", "request-id", "x-correlation-id"],
  ...["traceparent", "tracestate", "baggage", "b3", "x-client-request-id"],
]);
const NEUTRAL_PREFIX = /^(?:x-forwarded-|x-b3-|x-envoy-|x-stainless-|sec-)/;

/**
 * Returns the parsed body of a call with exact numbers; `undefined` for requests that change something at the provider, and for
 * those that readers may understand differently.
 */
function cacheableBody(call: ChatCall): JsonObject | undefined {
  const { text } = call;
  const body = call.readBody();
  if (body === undefined || keepsState(body) || hasRepeatedKey(text)) return undefined;
  const exact = hasLongNumber(text) ? parseExact(text) : body;
  return isJsonObject(exact) ? exact : undefined;
}

/**
 * Writes a body in a canonical form: without whitespace, members sorted. The order within members stays, because models read schemas
 * of tools in order.
 */
function canonicalText(body: JsonObject): string {
  return Object.keys(body)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${JSON.stringify(body[key])}`)
    .join(",");
}

/** Whether the provider is asked to store something, or to work after it has responded. */
function keepsState({ store, background, conversation }: JsonObject): boolean {
  const adds = conversation !== undefined && conversation !== null;
  return store === true || background === true || adds;
}
