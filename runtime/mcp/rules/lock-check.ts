import { randomUUID } from "node:crypto";
import type { JwtVariable } from "../../cel/variables.ts";
import { type Exchange, logFields } from "../../http/exchange.ts";
import { stringAt } from "../../json/json-text.ts";
import { metaFields, metaKey, withParams } from "../protocol/envelope.ts";
import { type ItemList, itemLists, type McpPrimitiveKind } from "../protocol/item-lists.ts";
import { type ListedItem, readLists } from "../protocol/list-edit.ts";
import { type Message, ownMessage, textAt } from "../protocol/message.ts";
import { fieldOf } from "../protocol/message-fields.ts";
import { addressedPrimitive, unknownPrimitive } from "../protocol/primitives.ts";
import { rpcCode, rpcError } from "../protocol/rpc-response.ts";
import { listFailure, type Outcome, type TargetFailure } from "../protocol/target-failure.ts";

/** An item in a target's list. */
export interface ListedDefinition {
  readonly list: ItemList;
  /** Its name, URI or template. */
  readonly name: string;
  /** The whole definition as JSON text. */
  readonly text: string;
}

/** The item that a request names. */
export interface RequestedItem {
  readonly kind: McpPrimitiveKind;
  readonly name: string;
}

/** The caller and target of a list; a target may show different lists to different callers. */
export interface ListOwner {
  readonly target: string;
  /** Distinguishes callers by session, identity, credentials and address. */
  readonly caller: string;
  /** Logs a warning. */
  readonly warn: (message: string) => void;
}

/** The decision about a request for an item; `unknown` if the target's list is not available. */
export type LockVerdict =
  | { readonly kind: "locked" }
  | { readonly kind: "unknown" }
  | { readonly kind: "withheld"; readonly why: string };

/** Requests a whole list from a target; `undefined` if that fails. */
export type AskForList = (list: ItemList) => Promise<readonly ListedDefinition[] | undefined>;

/** The parts of a lock that a check uses. */
export interface ItemLock {
  /** Returns the caller of a target, as far as the target's lists may depend on it. */
  ownerOf(exchange: Exchange, jwt: JwtVariable, target: string): ListOwner;
  /**
   * Decides about a request for an item. `ask` requests a whole list from the target. Concurrent requests share one call to
   * it; if that fails, each retries for itself.
   */
  verdictOn(owner: ListOwner, item: RequestedItem, ask: AskForList): Promise<LockVerdict>;
}

/** A request for an item that may have to wait until the item's definition is known. */
export interface LockedCall {
  readonly exchange: Exchange;
  readonly jwt: JwtVariable;
  /** The name of the target. */
  readonly target: string;
  /** The client's request, as the target receives it. */
  readonly request: Message;
  /** Returns the client's name of an item. */
  readonly nameAsSent: (kind: McpPrimitiveKind, name: string) => string;
  /** Sends a request to the target on behalf of this client. */
  readonly ask: (request: Message) => Promise<Outcome>;
}

/** Why a call is refused: the JSON text of the response, or the failure of the target. */
export type LockRefusal =
  | { readonly kind: "withheld"; readonly text: string }
  | { readonly kind: "failure"; readonly failure: TargetFailure };

/** Returns the item of a request that a lock may withhold; unsubscribing is always allowed. */
export function lockedItem(request: Message): RequestedItem | undefined {
  if (request.method === "resources/unsubscribe") return undefined;
  const addressed = addressedPrimitive(request);
  return addressed?.kind === "item" ? addressed.item : undefined;
}

/**
 * Checks the item of a request against the lock. Returns `undefined` if the request may be sent; logs the refusal
 * otherwise.
 */
export async function checkLock(
  lock: ItemLock,
  call: LockedCall,
): Promise<LockRefusal | undefined> {
  const { exchange, jwt, target, request, nameAsSent } = call;
  const item = lockedItem(request);
  if (item === undefined) return undefined;
  let failure: TargetFailure = { kind: "protocol", detail: "it did not list its items" };
  const owner = lock.ownerOf(exchange, jwt, target);
  const verdict = await lock.verdictOn(owner, item, async (list) => {
    const listed = await listedItems(call, list);
    if (!("kind" in listed)) return listed;
    failure = { ...listed, detail: `${itemLists[list].method}: ${listed.detail}` };
    return undefined;
  });
  if (verdict.kind === "locked") return undefined;
  if (verdict.kind === "unknown") return { kind: "failure", failure };
  exchange.record.reason = "ToolLock";
  logFields(exchange.record).set("rule", `tool lock: ${verdict.why}`);
  const text = unknownPrimitive(item.kind, nameAsSent(item.kind, item.name));
  return { kind: "withheld", text: rpcError(request.id, rpcCode.invalidParams, text) };
}

/** Returns what distinguishes callers whom a target may show different lists. */
export function callerOf(exchange: Exchange, jwt: JwtVariable): string {
  const { remoteAddress, record } = exchange;
  const sent = ["mcp-session-id", "authorization", "cookie"].map((name) => exchange.header(name));
  return JSON.stringify([...sent, remoteAddress, jwt?.iss, jwt?.sub, record.caller]);
}

/** Maximum number of pages of a list; a longer one counts as endless. */
const MAX_PAGES = 100;

/** Requests a whole list from a target, in the revision of a client's `request`. */
export async function listedItems(
  { ask, request }: Pick<LockedCall, "ask" | "request">,
  list: ItemList,
): Promise<readonly ListedItem[] | TargetFailure> {
  const items: ListedItem[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const own = listRequest(request, itemLists[list].method, cursor);
    const outcome = await ask(own);
    if (outcome.kind === "failure") return outcome.failure;
    const { response } = outcome;
    const lists = readLists(response, (item) => {
      if (item.list === list) items.push(item);
      return item.name;
    });
    if (response.result === undefined || typeof lists === "string") return listFailure;
    cursor = stringAt(response.text, fieldOf(response.text, response.result, "nextCursor"));
    if (cursor === undefined) return items;
  }
  return { kind: "protocol", detail: `a list of more than ${MAX_PAGES} pages` };
}

/** Builds the request for a page in the revision and with the client info of the client's call. */
function listRequest(call: Message, method: string, cursor: string | undefined): Message {
  const id = JSON.stringify(`gwc-list-${randomUUID()}`);
  const request = ownMessage(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":{}}`);
  const fields = metaFields(call);
  const all = typeof fields === "string" ? [] : [...fields.values()];
  const meta = all.filter(({ key }) => ofClient.has(key));
  return withParams(
    request,
    Object.fromEntries(meta.map((at) => [at.key, textAt(call.text, at)])),
    cursor === undefined ? {} : { cursor: JSON.stringify(cursor) },
  );
}

const ofClient: ReadonlySet<string> = new Set([
  metaKey.protocolVersion,
  metaKey.clientInfo,
  metaKey.clientCapabilities,
]);
