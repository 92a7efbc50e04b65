import { createHash } from "node:crypto";
import { decodeJwt } from "jose";
import { headerValue, replaceHeader, withoutHeader } from "../../http/headers/header-list.ts";
import { cookieValue, withoutCookie } from "../../http/headers/request-cookies.ts";
import { CallRefused } from "../../http/upstream/credentialed-upstream.ts";
import type { UpstreamCall, UpstreamCredential } from "../../http/upstream/upstream.ts";
import { SECOND } from "../../process/units.ts";
import { putCredential, type SentPlace } from "../sent-credential.ts";
import { type ClientMethod, type OAuthClient, tokenRequest } from "./client-authentication.ts";
import { requestTokens, TokensRefused } from "./request-tokens.ts";

/** Exchange of clients' tokens for tokens of a backend. Times are in milliseconds. */
export interface TokenExchangeSettings {
  /** The token endpoint. */
  readonly url: string;
  /** Absent if requests are not authenticated. */
  readonly client?: (OAuthClient & { readonly method: ClientMethod }) | undefined;
  /** RFC 8693, or RFC 7523 with the client's token as the assertion. */
  readonly grant: "tokenExchange" | "jwtBearer";
  /** Location of the client's token: a lower-case header with a prefix, or a cookie. */
  readonly subject:
    | { readonly header: string; readonly prefix: string }
    | { readonly cookie: string };
  /** Token types of RFC 8693: URIs. */
  readonly subjectType: string;
  readonly requestedType?: string | undefined;
  readonly audiences: readonly string[];
  readonly scopes: readonly string[];
  readonly resources: readonly string[];
  readonly parameters: readonly (readonly [name: string, value: string])[];
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

/**
 * Sends the backend a token that the token endpoint issues for the client's token, instead of the client's. Concurrent
 * requests share one exchange, which is repeated when the new or the client's token expires. Clients get a 401 without a
 * token or for a refused one, and a 502 if the server fails.
 */
export function exchangeCredential(settings: TokenExchangeSettings): UpstreamCredential {
  const tokens = new ExchangedTokens(settings);
  const { subject, target } = settings;
  return async (call) => {
    const token = subjectIn(call, subject);
    if (token === undefined) throw unauthorized("there is no token to exchange");
    const value = await tokens.for(token);
    stripSubject(call, subject);
    putCredential(call, target, value);
  };
}

/** Cache of tokens by the digest of the client's token. Evicts the least recently used one. */
class ExchangedTokens {
  readonly #settings: TokenExchangeSettings;
  readonly #held = new Map<string, Exchange>();

  constructor(settings: TokenExchangeSettings) {
    this.#settings = settings;
  }

  for(subject: string): Promise<string> {
    const key = createHash("sha256").update(subject).digest("base64");
    const known = this.#held.get(key);
    this.#held.delete(key);
    const held =
      known !== undefined && Date.now() < known.end ? known : this.#exchange(subject, key);
    this.#held.set(key, held);
    const [oldest] = this.#held.keys();
    // An exchange in flight is shared even without caching.
    const max = Math.max(this.#settings.maxTokens, 1);
    if (this.#held.size > max && oldest !== undefined) this.#held.delete(oldest);
    return held.token;
  }

  #exchange(subject: string, key: string): Exchange {
    const exchange: Exchange = {
      token: this.#token(subject, (end) => this.#keep(key, exchange, end)),
      end: Number.POSITIVE_INFINITY,
    };
    return exchange;
  }

  #keep(key: string, exchange: Exchange, end: number): void {
    exchange.end = this.#settings.maxTokens === 0 ? 0 : end;
    if (exchange.end <= Date.now() && this.#held.get(key) === exchange) this.#held.delete(key);
  }

  async #token(subject: string, keep: (end: number) => void): Promise<string> {
    try {
      const { token, lifetime } = await exchange(subject, this.#settings);
      const end = Date.now() + (lifetime ?? this.#settings.defaultLifetime) - MARGIN;
      keep(Math.min(end, endOfToken(subject)));
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

interface Exchange {
  readonly token: Promise<string>;
  /** Milliseconds since 1970. */
  end: number;
}

async function exchange(
  subject: string,
  settings: TokenExchangeSettings,
): Promise<{ readonly token: string; readonly lifetime: number | undefined }> {
  const { url, client, grant, requestedType } = settings;
  const own: readonly (readonly [string, string])[] =
    grant === "jwtBearer"
      ? [
          ["grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"],
          ["assertion", subject],
        ]
      : [
          ["grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"],
          ["subject_token", subject],
          ["subject_token_type", settings.subjectType],
          ...(requestedType === undefined
            ? []
            : [["requested_token_type", requestedType] as const]),
        ];
  const form = [
    ...own,
    ...settings.audiences.map((audience) => ["audience", audience] as const),
    ...settings.resources.map((resource) => ["resource", resource] as const),
    ...(settings.scopes.length === 0 ? [] : [["scope", settings.scopes.join(" ")] as const]),
    ...settings.parameters,
  ];
  const response = await requestTokens(tokenRequest(url, form, client));
  const { access_token: token, expires_in: seconds, issued_token_type: issued } = response;
  if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token)) {
    throw new Error("the response has no token");
  }
  if (requestedType !== undefined && issued !== undefined && issued !== requestedType) {
    throw new Error("the token has another type than requested");
  }
  const hasLifetime = typeof seconds === "number" && seconds > 0;
  return { token, lifetime: hasLifetime ? seconds * SECOND : undefined };
}

/** Whether a refusal is about the client's token (RFC 6749 5.2, RFC 8693 2.2.2). Other errors are not the client's fault. */
function isAboutSubject({ word }: TokensRefused): boolean {
  return word === "invalid_grant" || word === "invalid_request" || word === "invalid_token";
}

/**
 * Returns the expiry of a token in milliseconds since 1970; never for a token without it. The unverified claim can only
 * shorten the lifetime.
 */
function endOfToken(token: string): number {
  try {
    const { exp } = decodeJwt(token);
    return exp === undefined ? Number.POSITIVE_INFINITY : exp * SECOND;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

function subjectIn(
  { headers }: UpstreamCall,
  subject: TokenExchangeSettings["subject"],
): string | undefined {
  if ("cookie" in subject) return cookieValue(headerValue(headers, "cookie"), subject.cookie);
  const value = headerValue(headers, subject.header);
  const { prefix } = subject;
  if (value?.slice(0, prefix.length).toLowerCase() !== prefix.toLowerCase()) return undefined;
  const token = value.slice(prefix.length).trim();
  return token === "" ? undefined : token;
}

function stripSubject({ headers }: UpstreamCall, subject: TokenExchangeSettings["subject"]): void {
  if ("header" in subject) {
    headers.splice(0, headers.length, ...withoutHeader(headers, subject.header));
    return;
  }
  const others = withoutCookie(headerValue(headers, "cookie") ?? "", subject.cookie);
  if (others !== "") replaceHeader(headers, "cookie", others);
  else headers.splice(0, headers.length, ...withoutHeader(headers, "cookie"));
}

function unauthorized(detail: string): CallRefused {
  return new CallRefused({ kind: "protocol", isOfRequest: true, isUnauthorized: true, detail });
}
