import { createHash } from "node:crypto";
import type { Exchange } from "../../http/exchange.ts";
import { cookieValue } from "../../http/headers/request-cookies.ts";
import type { OwnToken } from "../../http/own-tokens.ts";

/** Characters of a cookie's value: with its name and attributes it stays below the 4096 bytes that browsers keep. */
const MAX_VALUE = 3_800;
/** Cookies that a session is split over. */
const MAX_PARTS = 3;
/** Logins that a browser may have begun at a time: pages that are opened again and again do not fill it. */
const MAX_LOGINS = 12;

/** Whose cookies they are: those of one client of one provider. */
export interface CookieOwner {
  readonly issuer: string;
  readonly clientId: string;
  readonly redirectUri: string;
}

/** What the cookies of an owner are called. */
export interface CookieNames {
  readonly base: string;
  /** Browsers see HTTPS, whatever ends TLS. */
  readonly isSecure: boolean;
}

/** The names of an owner's cookies, which are nobody else's. */
export function cookieNames({ issuer, clientId, redirectUri }: CookieOwner): CookieNames {
  const owner = JSON.stringify([issuer, clientId, redirectUri]);
  const digest = createHash("sha256").update(owner).digest("hex").slice(0, 8);
  return { base: `gwc-oidc-${digest}`, isSecure: redirectUri.startsWith("https:") };
}

/** What no request shows a server, whichever route it takes: the cookies of an owner. */
export function ownCookies(owner: CookieOwner): OwnToken {
  return { cookies: cookieNames(owner).base };
}

/**
 * The cookies of a login policy in one request: of the session, which may be split, and of logins that are in flight. With TLS
 * their names begin with `__Host-`: no other host of the site can set one (RFC 6265bis 4.1.3.2).
 */
export class BrowserCookies {
  /** The name of the session's first cookie. */
  readonly name: string;
  readonly #sent: string | undefined;
  readonly #secure: string;

  constructor(exchange: Exchange, { base, isSecure }: CookieNames) {
    const hasTls = isSecure || exchange.scheme === "https";
    this.name = `${hasTls ? "__Host-" : ""}${base}`;
    this.#secure = hasTls ? "; Secure" : "";
    this.#sent = exchange.shownTokens?.cookies;
  }

  /** The sealed session; undefined: none, or not all of it. */
  get session(): string | undefined {
    const first = cookieValue(this.#sent, this.name);
    const [, digit = "", start = ""] = /^([1-9])\.(.*)$/.exec(first ?? "") ?? [];
    if (digit === "" || Number(digit) > MAX_PARTS) return undefined;
    const rest = partNames(this.name)
      .slice(1, Number(digit))
      .map((part) => cookieValue(this.#sent, part));
    return rest.includes(undefined) ? undefined : [start, ...rest].join("");
  }

  /** What keeps a sealed session until the browser is closed; undefined: it is too long. */
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

  /** What takes the session away. */
  dropSession(): readonly string[] {
    return this.#drop(partNames(this.name));
  }

  /** The sealed login that a state belongs to; undefined: none of this browser. */
  login(state: string): string | undefined {
    return cookieValue(this.#sent, loginName(this.name, state));
  }

  /** What keeps a sealed login for some seconds, and takes those away that would be too many. */
  keepLogin(state: string, sealed: string, seconds: number): readonly string[] {
    const begun = namesIn(this.#sent).filter((name) => name.startsWith(loginName(this.name, "")));
    const kept = this.#cookie(loginName(this.name, state), sealed, seconds);
    return [kept, ...this.#drop(begun.slice(0, -MAX_LOGINS + 1))];
  }

  /** What takes a login away. */
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

/** Two logins that are under way at a time have names of their own. */
function loginName(name: string, state: string): string {
  return `${name}-login-${state.slice(0, 10)}`;
}

function namesIn(header: string | undefined): readonly string[] {
  return (header ?? "").split(";").map((pair) => pair.split("=", 1)[0]?.trim() ?? "");
}
