import { unsealSession } from "../process/session-seal.ts";
import type { Exchange, Handler } from "./exchange.ts";
import { isHeader } from "./headers/header-list.ts";

/** A cookie or header that the gateway sets for clients and reads again. */
export type OwnToken =
  /** Every cookie whose name starts with this, with or without `__Host-`. */
  | { readonly cookies: string }
  /** A cookie of that name whose value is sealed for this binding; others of the name belong to a server. */
  | { readonly cookie: string; readonly binding: string }
  /** A header with such a value; its name in lower case. */
  | { readonly header: string; readonly binding: string };

/** Maximum number of values of one request that are unsealed; further ones count as the gateway's own. */
const MAX_TRIED = 16;

/**
 * Removes the gateway's own tokens from every request before it is handled, whatever its route: a server could present them to
 * the gateway in its client's name. Policies find them in `exchange.shownTokens`.
 */
export function hideOwnTokens(handle: Handler, tokens: readonly OwnToken[]): Handler {
  const cookies = tokens.filter((each) => "cookies" in each || "cookie" in each);
  const headers = tokens.filter((each) => "header" in each);
  const pattern = cookies.length === 0 ? undefined : ownCookies(cookies);
  return (exchange) => {
    const shown = pattern && hideCookies(exchange, pattern, cookies);
    const taken = headers.length === 0 ? NO_HEADERS : hideHeaders(exchange, headers);
    if (shown !== undefined || taken.size > 0)
      exchange.shownTokens = { cookies: shown, headers: taken };
    return handle(exchange);
  };
}

type OwnCookie = Exclude<OwnToken, { readonly header: string }>;
type OwnHeader = Extract<OwnToken, { readonly header: string }>;

const NO_HEADERS: ReadonlyMap<string, string> = new Map();

/** Returns a pattern of cookies that may be the gateway's own. Some proxies join several Cookie headers with commas. */
function ownCookies(tokens: readonly OwnCookie[]): RegExp {
  const names = tokens.map((token) =>
    "cookies" in token
      ? `(?:__Host-)?${escaped(token.cookies)}[^=;,]*`
      : `${escaped(token.cookie)}[ \\t]*`,
  );
  return new RegExp(`(?:^|[;,])[ \\t]*(${names.join("|")})=([^;,]*)`, "g");
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** Removes own cookies. Returns all cookies as received if there was one to remove. */
function hideCookies(
  exchange: Exchange,
  pattern: RegExp,
  tokens: readonly OwnCookie[],
): string | undefined {
  const joined = exchange.header("cookie");
  if (joined === undefined || joined.search(pattern) === -1) return undefined;
  const { requestHeaders: list } = exchange;
  const lines = list.filter((_, i) => i % 2 === 1 && isHeader(list[i - 1] ?? "", "cookie"));
  const sent = lines.join("; ");
  let tried = 0;
  const isOwn = (name: string, value: string): boolean => {
    const bindings = tokens.flatMap((token) =>
      "cookie" in token && token.cookie === name ? [token.binding] : [],
    );
    if (bindings.length === 0) return true;
    tried += 1;
    return tried > MAX_TRIED || isSealed(exchange, bindings, value);
  };
  const kept = sent
    .replace(pattern, (all: string, name: string, value: string) =>
      isOwn(name.trim(), value.trim()) ? "" : all,
    )
    .replace(/^[;,][ \t]*/, "");
  if (kept === sent) return undefined;
  if (kept === "") exchange.removeRequestHeader("cookie");
  else exchange.setRequestHeader("cookie", kept);
  return sent;
}

function hideHeaders(
  exchange: Exchange,
  tokens: readonly OwnHeader[],
): ReadonlyMap<string, string> {
  let taken: Map<string, string> | undefined;
  for (const { header, binding } of tokens) {
    const value = exchange.header(header);
    if (value === undefined || !isSealed(exchange, [binding], value)) continue;
    exchange.removeRequestHeader(header);
    taken ??= new Map();
    taken.set(header, value);
  }
  return taken ?? NO_HEADERS;
}

function isSealed({ gateway }: Exchange, bindings: readonly string[], value: string): boolean {
  return bindings.some(
    (binding) => unsealSession(gateway.sessionKeys, binding, value) !== undefined,
  );
}
