import { createHash } from "node:crypto";
import { decodeJwt } from "jose";
import { headerValue, replaceHeader, withoutHeader } from "../../http/headers/header-list.ts";
import { cookieValue, withoutCookie } from "../../http/headers/request-cookies.ts";
import { CallRefused } from "../../http/upstream/credentialed-upstream.ts";
import type { UpstreamCall, UpstreamCredential } from "../../http/upstream/upstream.ts";
import { SECOND } from "../../process/units.ts";
import { askForTokens, TokensRefused } from "./ask-for-tokens.ts";
import { type ClientMethod, type OAuthClient, tokenRequest } from "./client-authentication.ts";

/** How tokens of clients become tokens for a backend. Times in milliseconds. */
export interface TokenExchangeSettings {
  /** The token endpoint. */
  readonly url: string;
  /** Absent: the server is not said who asks. */
  readonly client?: (OAuthClient & { readonly method: ClientMethod }) | undefined;
  /** RFC 8693, or RFC 7523 with the client's token as the assertion. */
  readonly grant: "tokenExchange" | "jwtBearer";
  /** Where the client's token stands: a lower-case header, with what is before it, or a cookie. */
  readonly subject:
    | { readonly header: string; readonly prefix: string }
    | { readonly cookie: string };
  /** Of RFC 8693: URIs. */
  readonly subjectType: string;
  readonly requestedType?: string | undefined;
  readonly audiences: readonly string[];
  readonly scopes: readonly string[];
  readonly resources: readonly string[];
  readonly parameters: readonly (readonly [name: string, value: string])[];
  /** Where the new token stands. */
  readonly target: { readonly header: string; readonly prefix: string };
  /** Tokens that are kept; 0: none is. */
  readonly maxTokens: number;
  /** How long one is good for when its server does not say. */
  readonly unsaidLifetime: number;
}

/** How long before its end a token is not shown any more: it has to arrive. */
const MARGIN = 5 * SECOND;
/** How long a refused token is refused without asking. */
const REFUSAL_TIME = 5 * SECOND;

/**
 * Shows to the backend what the token endpoint gives for the client's token, which the backend does not see. It is asked once
 * for each token, however many requests wait, and again when what it gave, or the client's token, ends. Without a token, or
 * with one that the server refuses, the client gets a 401; when the server fails a 502.
 */
export function exchangeCredential(settings: TokenExchangeSettings): UpstreamCredential {
  const tokens = new ExchangedTokens(settings);
  const { subject, target } = settings;
  return async (call) => {
    const token = subjectIn(call, subject);
    if (token === undefined) throw unauthorized("there is no token to exchange");
    const value = await tokens.for(token);
    stripSubject(call, subject);
    replaceHeader(call.headers, target.header, `${target.prefix}${value}`);
  };
}

/** Tokens by the digest of those that they were given for; the one that was asked for longest ago makes room. */
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
    const held = known !== undefined && Date.now() < known.end ? known : this.#ask(subject, key);
    this.#held.set(key, held);
    const [oldest] = this.#held.keys();
    // One that is under way is shared, even where none is kept.
    const max = Math.max(this.#settings.maxTokens, 1);
    if (this.#held.size > max && oldest !== undefined) this.#held.delete(oldest);
    return held.token;
  }

  #ask(subject: string, key: string): Exchange {
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
      const end = Date.now() + (lifetime ?? this.#settings.unsaidLifetime) - MARGIN;
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
  const response = await askForTokens(tokenRequest(url, form, client));
  const { access_token: token, expires_in: seconds, issued_token_type: issued } = response;
  if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token)) {
    throw new Error("the response has no token");
  }
  if (requestedType !== undefined && issued !== undefined && issued !== requestedType) {
    throw new Error("the token is of another type than was asked for");
  }
  const isSaid = typeof seconds === "number" && seconds > 0;
  return { token, lifetime: isSaid ? seconds * SECOND : undefined };
}

/** RFC 6749 5.2, RFC 8693 2.2.2: these are about the token; what else is wrong is not the client's to mend. */
function isAboutSubject({ word }: TokensRefused): boolean {
  return word === "invalid_grant" || word === "invalid_request" || word === "invalid_token";
}

/** Milliseconds since 1970; a token that says no end has none. What it says is only ever held against it. */
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
