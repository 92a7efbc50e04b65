import { publicBase } from "../auth/oauth/well-known.ts";
import type { ResponseVariables } from "../cel/variables.ts";
import { type Exchange, logFields } from "../http/exchange.ts";
import type { ResponseChanges } from "./transformations/message-changes.ts";
import { transformWholeResponse } from "./transformations.ts";

/** Where an agent's card is, below the path of the agent (A2A 1.0 8.2; the other one until 0.2). */
const CARD_PATH = /\/\.well-known\/agent(?:-card)?\.json$/;

/** The methods whose result is a card (0.3, 1.0). */
const CARD_METHODS: ReadonlySet<string> = new Set([
  "agent/getAuthenticatedExtendedCard",
  "GetExtendedAgentCard",
]);

/**
 * Shows an agent at the gateway: a card of at most `limit` bytes gives the gateway's address, and the log has the method of
 * JSON-RPC. The body of the request is there already.
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
    return isObject(result) ? { ...message, result: withAddress(result, base) } : message;
  });
}

/** The method of a JSON-RPC request, at most 64 characters of it; undefined for anything else. */
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
 * A card whose agent is at `base`: that is what its own address becomes, interfaces below it stay below it, and others of
 * the same server stay at their paths. What is at another server is not behind the gateway, and stays.
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
    // An origin says nothing where the scheme is not the web's.
    if (protocol !== own.protocol || host !== own.host) return url;
    if (pathname === own.pathname) return `${base}${search}`;
    const folder = own.pathname.replace(/\/?$/, "/");
    if (pathname.startsWith(folder)) return `${base}/${pathname.slice(folder.length)}${search}`;
    return `${new URL(base).origin}${pathname}${search}`;
  };
  const movedLists = lists.map(({ key, list }) => [
    key,
    list.map((each: unknown) => (isObject(each) ? { ...each, url: moved(each.url) } : each)),
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
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is JsonMembers {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
