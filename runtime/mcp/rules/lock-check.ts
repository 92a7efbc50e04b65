import { randomUUID } from "node:crypto";
import type { JwtVariable } from "../../cel/variables.ts";
import { type Exchange, logFields } from "../../http/exchange.ts";
import { stringAt } from "../../json/json-text.ts";
import { metaFields, metaKey, withParams } from "../protocol/envelope.ts";
import { type ItemList, itemLists, type McpPrimitiveKind } from "../protocol/item-lists.ts";
import { readLists } from "../protocol/list-edit.ts";
import { type Message, ownMessage, textAt } from "../protocol/message.ts";
import { fieldOf } from "../protocol/message-fields.ts";
import { addressedPrimitive, unknownPrimitive } from "../protocol/primitives.ts";
import { rpcCode, rpcError } from "../protocol/rpc-response.ts";
import { listFailure, type Outcome, type TargetFailure } from "../protocol/target-failure.ts";

/** An item as a target lists it. */
export interface ListedDefinition {
  readonly list: ItemList;
  /** Its name, URI or template. */
  readonly name: string;
  /** The whole definition as JSON text. */
  readonly text: string;
}

/** What a request is about. */
export interface RequestedItem {
  readonly kind: McpPrimitiveKind;
  readonly name: string;
}

/** Whose list it is: what a target shows to one client may be another list for the next. */
export interface ListOwner {
  readonly target: string;
  /** Tells callers apart: their session, identity, credentials and address. */
  readonly caller: string;
  /** Warns the operator. */
  readonly warn: (message: string) => void;
}

/** What becomes of a request for an item: `unknown`: the target does not say what it offers. */
export type LockVerdict =
  | { readonly kind: "locked" }
  | { readonly kind: "unknown" }
  | { readonly kind: "withheld"; readonly why: string };

/** Asks a target for a whole list; undefined: it does not say. */
export type AskForList = (list: ItemList) => Promise<readonly ListedDefinition[] | undefined>;

/** What a check needs of a lock. */
export interface ItemLock {
  /** Who asks a target, as far as its lists may differ. */
  ownerOf(exchange: Exchange, jwt: JwtVariable, target: string): ListOwner;
  /**
   * What becomes of a request for an item. `ask` asks the target for all of a list; those who want to know at the same time
   * ask once, and each for itself where that failed.
   */
  verdictOn(owner: ListOwner, item: RequestedItem, ask: AskForList): Promise<LockVerdict>;
}

/** A request for an item that may have to wait until it is known what the item says of itself. */
export interface LockedCall {
  readonly exchange: Exchange;
  readonly jwt: JwtVariable;
  /** The target's name. */
  readonly target: string;
  /** The client's request, as the target gets it. */
  readonly request: Message;
  /** The item as the client calls it. */
  readonly nameAsSent: (kind: McpPrimitiveKind, name: string) => string;
  /** Asks the target as this client. */
  readonly ask: (request: Message) => Promise<Outcome>;
}

/** Why a call is not made: the text of the response that says so, or what went wrong at the target. */
export type LockRefusal =
  | { readonly kind: "withheld"; readonly text: string }
  | { readonly kind: "failure"; readonly failure: TargetFailure };

/** What a request is about that a lock may withhold; who hears of a resource no more asks for nothing. */
export function lockedItem(request: Message): RequestedItem | undefined {
  if (request.method === "resources/unsubscribe") return undefined;
  const addressed = addressedPrimitive(request);
  return addressed?.kind === "item" ? addressed.item : undefined;
}

/** Holds the item of a request against the lock; undefined: it may be sent. What is withheld is noted. */
export async function checkLock(
  lock: ItemLock,
  call: LockedCall,
): Promise<LockRefusal | undefined> {
  const { exchange, jwt, target, request, nameAsSent } = call;
  const item = lockedItem(request);
  if (item === undefined) return undefined;
  let failure: TargetFailure = { kind: "protocol", detail: "it did not list what it offers" };
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

/** The most pages of a list: one that goes on is no list. */
const MAX_PAGES = 100;

/** A whole list of a target, or why there is none. */
async function listedItems(
  { ask, request }: LockedCall,
  list: ItemList,
): Promise<readonly ListedDefinition[] | TargetFailure> {
  const items: ListedDefinition[] = [];
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

/** Asks for a page as the client's call would ask: in its revision, and by its name. */
function listRequest(call: Message, method: string, cursor: string | undefined): Message {
  const id = JSON.stringify(`gwc-list-${randomUUID()}`);
  const request = ownMessage(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":{}}`);
  const fields = metaFields(call);
  const said = typeof fields === "string" ? [] : [...fields.values()];
  const meta = said.filter(({ key }) => ofClient.has(key));
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
