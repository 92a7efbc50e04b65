import type { Exchange } from "../../http/exchange.ts";
import { elementsOf, isArrayAt, isObjectAt, stringAt } from "../../json/json-text.ts";
import { metaKey } from "../protocol/envelope.ts";
import { type Message, ownMessage, textAt } from "../protocol/message.ts";
import { paramOf } from "../protocol/message-edit.ts";
import { readFields } from "../protocol/message-fields.ts";
import { respondRpcError, rpcCode } from "../protocol/rpc-response.ts";

/** The changes that a subscription requests or that its acknowledgement confirms (MCP 2026-07-28). */
export interface SubscriptionFilter {
  /** Keys of `LIST_SUBSCRIPTIONS`. */
  readonly lists: readonly string[];
  readonly uris: readonly string[];
}

/** The list changes that clients can subscribe to, with their notifications. */
export const LIST_SUBSCRIPTIONS: ReadonlyMap<string, string> = new Map([
  ["toolsListChanged", "notifications/tools/list_changed"],
  ["promptsListChanged", "notifications/prompts/list_changed"],
  ["resourcesListChanged", "notifications/resources/list_changed"],
]);

/** The first message of a subscription's stream. */
export const acknowledged = "notifications/subscriptions/acknowledged";

/** Reads the filter of a subscription or its acknowledgement; `undefined` if it is malformed. */
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

/** Refuses a subscription with a malformed filter. */
export function refuseFilter(exchange: Exchange, { id }: Message): void {
  const message = "Invalid params: notifications must be an object";
  respondRpcError(exchange, 400, "MCP", { id, code: rpcCode.invalidParams, message });
}

/** Returns `notifications` as JSON text. */
export function filterText({ lists, uris }: SubscriptionFilter): string {
  const filter = Object.fromEntries(lists.map((name) => [name, true]));
  return JSON.stringify(uris.length === 0 ? filter : { ...filter, resourceSubscriptions: uris });
}

/** Builds the acknowledgement for the subscription with this id (JSON text). */
export function acknowledgement(id: string, filter: SubscriptionFilter): Message {
  const meta = `{${JSON.stringify(metaKey.subscriptionId)}:${id}}`;
  const params = `{"notifications":${filterText(filter)},"_meta":${meta}}`;
  return ownMessage(`{"jsonrpc":"2.0","method":"${acknowledged}","params":${params}}`);
}

const filterNames: ReadonlySet<string> = new Set([
  ...LIST_SUBSCRIPTIONS.keys(),
  "resourceSubscriptions",
]);
