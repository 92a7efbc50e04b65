import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { decodeJwt, type JWTPayload } from "jose";
import type { Exchange } from "../../http/exchange.ts";
import { headerValue, replaceHeader, withoutHeader } from "../../http/headers/header-list.ts";
import { cookieValue, withoutCookie } from "../../http/headers/request-cookies.ts";
import { queryValue, withoutParameter } from "../../http/routing/query.ts";
import { CallRefused } from "../../http/upstream/credentialed-upstream.ts";
import type {
  CompleteCall,
  UpstreamCall,
  UpstreamCredential,
} from "../../http/upstream/upstream.ts";
import { SECOND } from "../../process/units.ts";
import { putCredential, type SentPlace } from "../sent-credential.ts";
import { TokensRefused } from "./request-tokens.ts";
import {
  type IssuedToken,
  issuedToken,
  scopeForm,
  type TokenEndpoint,
  type TokenForm,
} from "./token-endpoint.ts";

/** Location of a token in requests: a lower-case header with a prefix, a cookie, a query parameter, or an expression for it. */
export type TokenSource =
  | { readonly header: string; readonly prefix: string }
  | { readonly cookie: string }
  | { readonly queryParameter: string }
  | { readonly expression: RequestValue };

/** A value that an expression reads from the client's request. */
type RequestValue = (exchange: Exchange) => unknown;

/** Token of the party that acts for the client (RFC 8693 1.1). */
interface ActorToken {
  readonly source: TokenSource;
  readonly type: string;
  /** Whether the claim `may_act` of the client's token must permit the actor. */
  readonly mustBePermitted: boolean;
}

/** Exchange of the first token as an assertion for that of another server (RFC 7523). */
interface NextExchange extends TokenEndpoint {
  readonly scopes: readonly string[];
}

/** Exchange of clients' tokens for tokens of a backend. Times are in milliseconds. */
export interface TokenExchangeSettings extends TokenEndpoint {
  /** RFC 8693, or RFC 7523 with the client's token as the assertion. */
  readonly grant: "tokenExchange" | "jwtBearer";
  /** Location of the client's token. */
  readonly subject: TokenSource;
  /** Absent if nobody acts for the client. */
  readonly actor?: ActorToken | undefined;
  /** Server that takes the first token as an assertion; absent if that token is for the backend. */
  readonly next?: NextExchange | undefined;
  /** Token types of RFC 8693: URIs. */
  readonly subjectType: string;
  readonly requestedType?: string | undefined;
  readonly audiences: readonly string[];
  readonly scopes: readonly string[];
  readonly resources: readonly string[];
  /** Additional parameters: strings, or expressions for them. */
  readonly parameters: readonly (readonly [name: string, value: string | RequestValue])[];
  /** Location of the new token. */
  readonly target: SentPlace;
  /** Maximum number of cached tokens; 0 disables caching. */
  readonly maxTokens: number;
  /** Lifetime of tokens for which the server reports none. */
  readonly defaultLifetime: number;
}

/** Time before its expiry when a token is no longer sent, because it must arrive in time. */
const MARGIN = 5 * SECOND;
/** Time for which a refusal is cached. */
const REFUSAL_TIME = 5 * SECOND;

/** Tokens of a request. */
interface GivenTokens {
  readonly subject: string;
  readonly actor: string | undefined;
  /** Additional parameters, which may differ between requests. */
  readonly parameters: TokenForm;
}

/**
 * Sends the backend a token that the token endpoint issues for the client's token, instead of the client's. Concurrent
 * requests share one exchange, which is repeated when the new or the client's token expires. Clients get a 401 without a
 * token or for a refused one, and a 502 if the server fails.
 */
export function exchangeCredential(settings: TokenExchangeSettings): UpstreamCredential {
  const tokens = new ExchangedTokens(settings);
  const { subject, actor, target, parameters } = settings;
  return async (call) => {
    const token = tokenIn(call, subject);
    if (token === undefined) throw unauthorized("there is no token to exchange");
    const acting = actor && tokenIn(call, actor.source);
    if (actor !== undefined) {
      if (acting === undefined) throw unauthorized("there is no token of an actor");
      if (actor.mustBePermitted && !mayAct(token, acting))
        throw unauthorized("the client's token does not permit this actor");
    }
    const given = parameters.map(([name, of]) => [name, parameterOf(call, name, of)] as const);
    const value = await tokens.for({ subject: token, actor: acting, parameters: given });
    stripToken(call, subject);
    if (actor !== undefined) stripToken(call, actor.source);
    putCredential(call, target, value);
  };
}

/** Whether each member of `may_act` is a claim of the actor (RFC 8693 4.4). Server and client policies verify the tokens. */
function mayAct(subject: string, actor: string): boolean {
  const { may_act: permitted } = claimsOf(subject);
  if (typeof permitted !== "object" || permitted === null || Array.isArray(permitted)) return false;
  const claims = claimsOf(actor);
  const wanted = Object.entries(permitted);
  return (
    wanted.length > 0 && wanted.every(([name, value]) => isDeepStrictEqual(claims[name], value))
  );
}

/** Cache of tokens by the digest of the given tokens. Evicts the least recently used one. */
class ExchangedTokens {
  readonly #settings: TokenExchangeSettings;
  readonly #held = new Map<string, CachedExchange>();

  constructor(settings: TokenExchangeSettings) {
    this.#settings = settings;
  }

  for(given: GivenTokens): Promise<string> {
    // A token is for one client, one actor and their parameters.
    const text = JSON.stringify([given.subject, given.actor, given.parameters]);
    const key = createHash("sha256").update(text).digest("base64");
    const known = this.#held.get(key);
    this.#held.delete(key);
    const held = known !== undefined && Date.now() < known.end ? known : this.#exchange(given, key);
    this.#held.set(key, held);
    const [oldest] = this.#held.keys();
    // An exchange in flight is shared even without caching.
    const max = Math.max(this.#settings.maxTokens, 1);
    if (this.#held.size > max && oldest !== undefined) this.#held.delete(oldest);
    return held.token;
  }

  #exchange(given: GivenTokens, key: string): CachedExchange {
    const exchange: CachedExchange = {
      token: this.#token(given, (end) => this.#keep(key, exchange, end)),
      end: Number.POSITIVE_INFINITY,
    };
    return exchange;
  }

  #keep(key: string, exchange: CachedExchange, end: number): void {
    exchange.end = this.#settings.maxTokens === 0 ? 0 : end;
    if (exchange.end <= Date.now() && this.#held.get(key) === exchange) this.#held.delete(key);
  }

  async #token(given: GivenTokens, keep: (end: number) => void): Promise<string> {
    try {
      const { token, lifetime } = await exchange(given, this.#settings);
      const end = Date.now() + (lifetime ?? this.#settings.defaultLifetime) - MARGIN;
      keep(Math.min(end, endOfToken(given.subject), endOfToken(given.actor)));
      return token;
    } catch (error) {
      const isRefusal = error instanceof TokensRefused && isAboutSubject(error);
      keep(isRefusal ? Date.now() + REFUSAL_TIME : 0);
      const detail = `no token for the backend: ${error instanceof Error ? error.message : error}`;
      throw isRefusal
        ? unauthorized(detail)
        : new CallRefused({ kind: "protocol", isOfRequest: true, detail });
    }
  }
}

interface CachedExchange {
  readonly token: Promise<string>;
  /** Milliseconds since 1970. */
  end: number;
}

async function exchange(
  { subject, actor, parameters }: GivenTokens,
  settings: TokenExchangeSettings,
): Promise<IssuedToken> {
  const { grant, requestedType, next } = settings;
  const own: TokenForm =
    grant === "jwtBearer"
      ? assertionForm(subject)
      : [
          ["grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"],
          ["subject_token", subject],
          ["subject_token_type", settings.subjectType],
          ...(actor === undefined ? [] : actorForm(actor, settings.actor)),
          ...(requestedType === undefined
            ? []
            : [["requested_token_type", requestedType] as const]),
        ];
  const form = [
    ...own,
    ...settings.audiences.map((audience) => ["audience", audience] as const),
    ...settings.resources.map((resource) => ["resource", resource] as const),
    ...scopeForm(settings.scopes),
    ...parameters,
  ];
  const issued = await issuedToken(settings, form, requestedType);
  if (next === undefined) return issued;
  const second = [...assertionForm(issued.token), ...scopeForm(next.scopes)];
  return issuedToken(next, second, undefined);
}

function assertionForm(assertion: string): TokenForm {
  return [
    ["grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"],
    ["assertion", assertion],
  ];
}

function actorForm(token: string, actor: ActorToken | undefined): TokenForm {
  return [
    ["actor_token", token],
    ["actor_token_type", actor?.type ?? ""],
  ];
}

/** Whether a refusal is about the client's token (RFC 6749 5.2, RFC 8693 2.2.2). Other errors are not the client's fault. */
function isAboutSubject({ word }: TokensRefused): boolean {
  return word === "invalid_grant" || word === "invalid_request" || word === "invalid_token";
}

/**
 * Returns the expiry of a token in milliseconds since 1970; never for a token without it. The unverified claim can only
 * shorten the lifetime.
 */
function endOfToken(token: string | undefined): number {
  const { exp } = token === undefined ? {} : claimsOf(token);
  return exp === undefined ? Number.POSITIVE_INFINITY : exp * SECOND;
}

/** Returns the unverified claims of a token; none if it is not a JWT. */
function claimsOf(token: string): JWTPayload {
  try {
    return decodeJwt(token);
  } catch {
    return {};
  }
}

function parameterOf(call: UpstreamCall, name: string, of: string | RequestValue): string {
  const value = typeof of === "string" ? of : valueIn(call, of);
  if (typeof value === "string") return value;
  throw unauthorized(`the parameter "${name}" of the token request is not a string`);
}

/** Evaluates an expression; `undefined` for a call of the gateway itself, which has no request. */
function valueIn({ exchange }: UpstreamCall, value: RequestValue): unknown {
  return exchange === undefined ? undefined : value(exchange);
}

function tokenIn(call: UpstreamCall, source: TokenSource): string | undefined {
  const { headers, path } = call;
  if ("expression" in source) return nonEmpty(valueIn(call, source.expression));
  if ("queryParameter" in source) {
    const query = path.slice(path.indexOf("?") + 1);
    return path.includes("?") ? nonEmpty(queryValue(query, source.queryParameter)) : undefined;
  }
  if ("cookie" in source) return cookieValue(headerValue(headers, "cookie"), source.cookie);
  const value = headerValue(headers, source.header);
  const { prefix } = source;
  if (value?.slice(0, prefix.length).toLowerCase() !== prefix.toLowerCase()) return undefined;
  return nonEmpty(value.slice(prefix.length).trim());
}

function nonEmpty(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Removes a token from a request; that of an expression has no place of its own. */
function stripToken(call: CompleteCall, source: TokenSource): void {
  const { headers } = call;
  if ("expression" in source) return;
  if ("queryParameter" in source) {
    call.path = withoutParameter(call.path, source.queryParameter);
    return;
  }
  if ("header" in source) {
    headers.splice(0, headers.length, ...withoutHeader(headers, source.header));
    return;
  }
  const others = withoutCookie(headerValue(headers, "cookie") ?? "", source.cookie);
  if (others !== "") replaceHeader(headers, "cookie", others);
  else headers.splice(0, headers.length, ...withoutHeader(headers, "cookie"));
}

function unauthorized(detail: string): CallRefused {
  return new CallRefused({ kind: "protocol", isOfRequest: true, isUnauthorized: true, detail });
}
