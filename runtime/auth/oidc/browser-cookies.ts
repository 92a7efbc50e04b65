import { createHash } from "node:crypto";
import type { Exchange } from "../../http/exchange.ts";
import { cookieValue } from "../../http/headers/request-cookies.ts";
import type { OwnToken } from "../../http/own-tokens.ts";

/**
 * Maximum characters of a cookie's value. With its name and attributes, it remains below the 4096 bytes that browsers
 * accept.
 */
const MAX_VALUE = 3_800;
/** Maximum number of cookies that a session is split into. */
const MAX_PARTS = 3;
/** Maximum number of concurrent logins of a browser, so that reopened pages do not fill it with cookies. */
const MAX_LOGINS = 12;

/** Owner of cookies: one client of one provider. */
export interface CookieOwner {
  readonly issuer: string;
  readonly clientId: string;
  readonly redirectUri: string;
}

/** Names of an owner's cookies. */
export interface CookieNames {
  readonly base: string;
  /** Whether browsers see HTTPS, even if another proxy terminates TLS. */
  readonly isSecure: boolean;
}

/** Returns the names of an owner's cookies, which are unique to it. */
export function cookieNames({ issuer, clientId, redirectUri }: CookieOwner): CookieNames {
  const owner = JSON.stringify([issuer, clientId, redirectUri]);
  const digest = createHash("sha256").update(owner).digest("hex").slice(0, 8);
  return { base: `gwc-oidc-${digest}`, isSecure: redirectUri.startsWith("https:") };
}

/** Returns the cookies of an owner, which are never forwarded to upstreams. */
export function ownCookies(owner: CookieOwner): OwnToken {
  return { cookies: cookieNames(owner).base };
}

/**
 * Cookies of a login policy in one request: of the session, which may be split, and of logins in flight. With TLS, their
 * names start with `__Host-`, so that no other host of the site can set them (RFC 6265bis 4.1.3.2).
 */
export class BrowserCookies {
  /** Name of the session's first cookie. */
  readonly name: string;
  readonly #sent: string | undefined;
  readonly #secure: string;

  constructor(exchange: Exchange, { base, isSecure }: CookieNames) {
    const hasTls = isSecure || exchange.scheme === "https";
    this.name = `${hasTls ? "__Host-" : ""}${base}`;
    this.#secure = hasTls ? "; Secure" : "";
    this.#sent = exchange.shownTokens?.cookies;
  }

  /** Sealed session; `undefined` if it is absent or incomplete. */
  get session(): string | undefined {
    const first = cookieValue(this.#sent, this.name);
    const [, digit = "", start = ""] = /^([1-9])\.(.*)$/.exec(first ?? "") ?? [];
    if (digit === "" || Number(digit) > MAX_PARTS) return undefined;
    const rest = partNames(this.name)
      .slice(1, Number(digit))
      .map((part) => cookieValue(this.#sent, part));
    return rest.includes(undefined) ? undefined : [start, ...rest].join("");
  }

  /** Returns cookies that store a sealed session until the browser is closed; `undefined` if it is too long. */
  keepSession(sealed: string): readonly string[] | undefined {
    const count = Math.ceil(sealed.length / MAX_VALUE);
    if (count > MAX_PARTS) return undefined;
    const names = partNames(this.name);
    const kept = names.slice(0, count).map((name, index) => {
      const value = sealed.slice(index * MAX_VALUE, (index + 1) * MAX_VALUE);
      return this.#cookie(name, index === 0 ? `${count}.${value}` : value);
    });
    return [...kept, ...this.#drop(names.slice(count))];
  }

  /** Returns cookies that delete the session. */
  dropSession(): readonly string[] {
    return this.#drop(partNames(this.name));
  }

  /** Returns the sealed login of a state; `undefined` if this browser has no such login. */
  login(state: string): string | undefined {
    return cookieValue(this.#sent, loginName(this.name, state));
  }

  /** Returns cookies that store a sealed login for some seconds, and delete the oldest ones beyond the maximum. */
  keepLogin(state: string, sealed: string, seconds: number): readonly string[] {
    const begun = namesIn(this.#sent).filter((name) => name.startsWith(loginName(this.name, "")));
    const kept = this.#cookie(loginName(this.name, state), sealed, seconds);
    return [kept, ...this.#drop(begun.slice(0, -MAX_LOGINS + 1))];
  }

  /** Returns a cookie that deletes a login. */
  dropLogin(state: string): string {
    return this.#cookie(loginName(this.name, state), "", 0);
  }

  #drop(names: readonly string[]): readonly string[] {
    return names
      .filter((name) => cookieValue(this.#sent, name) !== undefined)
      .map((name) => this.#cookie(name, "", 0));
  }

  #cookie(name: string, value: string, seconds?: number): string {
    const lifetime = seconds === undefined ? "" : `; Max-Age=${seconds}`;
    return `${name}=${value}; Path=/${lifetime}; HttpOnly${this.#secure}; SameSite=Lax`;
  }
}

function partNames(name: string): readonly string[] {
  return Array.from({ length: MAX_PARTS }, (_, index) => (index === 0 ? name : `${name}.${index}`));
}

/** Names cookies by login, so that concurrent logins do not overwrite each other. */
function loginName(name: string, state: string): string {
  return `${name}-login-${state.slice(0, 10)}`;
}

function namesIn(header: string | undefined): readonly string[] {
  return (header ?? "").split(";").map((pair) => pair.split("=", 1)[0]?.trim() ?? "");
}
