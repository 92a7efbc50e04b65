import type { Exchange } from "../../http/exchange.ts";
import { elementsOf, isArrayAt, isObjectAt, stringAt } from "../../json/json-text.ts";
import { metaKey } from "../protocol/envelope.ts";
import { type Message, ownMessage, textAt } from "../protocol/message.ts";
import { paramOf } from "../protocol/message-edit.ts";
import { readFields } from "../protocol/message-fields.ts";
import { respondRpcError, rpcCode } from "../protocol/rpc-response.ts";

/** What a client wants to hear of by a subscription (MCP 2026-07-28), or is told that it will. */
export interface SubscriptionFilter {
  /** Of `listSubscriptions`. */
  readonly lists: readonly string[];
  readonly uris: readonly string[];
}

/** The changes of lists that can be heard of, and how they are told. */
export const LIST_SUBSCRIPTIONS: ReadonlyMap<string, string> = new Map([
  ["toolsListChanged", "notifications/tools/list_changed"],
  ["promptsListChanged", "notifications/prompts/list_changed"],
  ["resourcesListChanged", "notifications/resources/list_changed"],
]);

/** The first message of a subscription's stream. */
export const acknowledged = "notifications/subscriptions/acknowledged";

/** What a subscription, or its acknowledgement, names; undefined: nobody can say. */
export function readFilter(message: Message): SubscriptionFilter | undefined {
  const { text } = message;
  const at = paramOf(message, "notifications");
  if (at === undefined || !isObjectAt(text, at.start)) return undefined;
  const fields = readFields(text, at.start, filterNames);
  if (typeof fields === "string") return undefined;
  const uris = fields.get("resourceSubscriptions");
  const isList = uris !== undefined && isArrayAt(text, uris.start);
  return {
    lists: [...LIST_SUBSCRIPTIONS.keys()].filter((name) => {
      const list = fields.get(name);
      return list !== undefined && textAt(text, list) === "true";
    }),
    uris: isList ? elementsOf(text, uris.start).flatMap((uri) => stringAt(text, uri) ?? []) : [],
  };
}

/** Answers a subscription whose filter nobody can read. */
export function refuseFilter(exchange: Exchange, { id }: Message): void {
  const message = "Invalid params: notifications must be an object";
  respondRpcError(exchange, 400, "MCP", { id, code: rpcCode.invalidParams, message });
}

/** `notifications` as JSON text. */
export function filterText({ lists, uris }: SubscriptionFilter): string {
  const filter = Object.fromEntries(lists.map((name) => [name, true]));
  return JSON.stringify(uris.length === 0 ? filter : { ...filter, resourceSubscriptions: uris });
}

/** Tells the subscription with this id (JSON text) what it will hear of. */
export function acknowledgement(id: string, filter: SubscriptionFilter): Message {
  const meta = `{${JSON.stringify(metaKey.subscriptionId)}:${id}}`;
  const params = `{"notifications":${filterText(filter)},"_meta":${meta}}`;
  return ownMessage(`{"jsonrpc":"2.0","method":"${acknowledged}","params":${params}}`);
}

const filterNames: ReadonlySet<string> = new Set([
  ...LIST_SUBSCRIPTIONS.keys(),
  "resourceSubscriptions",
]);
