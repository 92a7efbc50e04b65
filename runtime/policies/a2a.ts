import { publicBase } from "../auth/oauth/well-known.ts";
import type { ResponseVariables } from "../cel/variables.ts";
import { type Exchange, logFields } from "../http/exchange.ts";
import { isJsonObject } from "../json/json-object.ts";
import type { ResponseChanges } from "./transformations/message-changes.ts";
import { transformWholeResponse } from "./transformations.ts";

/** The path of an agent's card, relative to the agent (A2A 1.0 8.2; the other one until 0.2). */
const CARD_PATH = /\/\.well-known\/agent(?:-card)?\.json$/;

/** The methods that return a card (0.3, 1.0). */
const CARD_METHODS: ReadonlySet<string> = new Set([
  "agent/getAuthenticatedExtendedCard",
  "GetExtendedAgentCard",
]);

/**
 * Exposes an agent at the gateway: rewrites the addresses in its card (at most `limit` bytes) and logs the JSON-RPC method.
 * Requires that the request's body is buffered.
 */
export function proxyAgent(exchange: Exchange, limit: number): void {
  logFields(exchange.record).set("protocol", "a2a");
  const { method, path } = exchange;
  if (method === "GET" && CARD_PATH.test(path)) {
    const base = `${publicBase(exchange)}${path.replace(CARD_PATH, "")}`;
    changeCard(exchange, limit, (card) => withAddress(card, base));
    return;
  }
  const called = methodOf(exchange);
  if (called === undefined) return;
  logFields(exchange.record).set("a2a.method", called);
  if (!CARD_METHODS.has(called)) return;
  const base = `${publicBase(exchange)}${path.replace(/\/$/, "")}`;
  changeCard(exchange, limit, (message) => {
    const { result } = message;
    return isJsonObject(result) ? { ...message, result: withAddress(result, base) } : message;
  });
}

/** Returns the method of a JSON-RPC request, truncated to 64 characters; `undefined` for other requests. */
function methodOf({ method, bufferedBody }: Exchange): string | undefined {
  if (method !== "POST" || bufferedBody === undefined) return undefined;
  const called = objectOf(bufferedBody)?.method;
  return typeof called === "string" ? called.slice(0, 64) : undefined;
}

type JsonMembers = Readonly<Record<string, unknown>>;

function changeCard(
  exchange: Exchange,
  limit: number,
  change: (value: JsonMembers) => JsonMembers,
): void {
  const transform = ({ status, bufferedBody }: ResponseVariables): ResponseChanges => {
    const value = status === 200 && bufferedBody !== undefined ? objectOf(bufferedBody) : undefined;
    const unchanged = { add: [], set: [], remove: [] };
    return value === undefined ? unchanged : { ...unchanged, body: JSON.stringify(change(value)) };
  };
  transformWholeResponse(exchange, transform, limit);
}

/**
 * Rewrites a card for an agent at `base`. The agent's own address becomes `base`, interfaces below it stay below it, and
 * others on the same server keep their paths. Addresses on other servers are not behind the gateway and stay unchanged.
 */
function withAddress(card: JsonMembers, base: string): JsonMembers {
  const { signatures: _signed, ...rest } = card;
  const lists = ["additionalInterfaces", "supportedInterfaces"].flatMap((key) => {
    const list = card[key];
    return Array.isArray(list) ? [{ key, list }] : [];
  });
  const first = card.url ?? lists[0]?.list[0]?.url;
  if (typeof first !== "string" || !URL.canParse(first)) return card;
  const own = new URL(first);
  const moved = (url: unknown): unknown => {
    if (typeof url !== "string" || !URL.canParse(url)) return url;
    const { protocol, host, pathname, search } = new URL(url);
    // Only for web schemes, URL's origin identifies a server.
    if (protocol !== own.protocol || host !== own.host) return url;
    if (pathname === own.pathname) return `${base}${search}`;
    const folder = own.pathname.replace(/\/?$/, "/");
    if (pathname.startsWith(folder)) return `${base}/${pathname.slice(folder.length)}${search}`;
    return `${new URL(base).origin}${pathname}${search}`;
  };
  const movedLists = lists.map(({ key, list }) => [
    key,
    list.map((each: unknown) => (isJsonObject(each) ? { ...each, url: moved(each.url) } : each)),
  ]);
  return {
    ...rest,
    ...(card.url === undefined ? {} : { url: moved(card.url) }),
    ...Object.fromEntries(movedLists),
  };
}

function objectOf(bytes: Uint8Array): JsonMembers | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString("utf8"));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
