import type { Exchange } from "../../http/exchange.ts";
import type { McpPrimitiveKind } from "../protocol/item-lists.ts";
import { editLists, onlyListMembers } from "../protocol/list-edit.ts";
import type { Message } from "../protocol/message.ts";
import { stringParamOf } from "../protocol/message-edit.ts";
import { rpcCode, rpcError } from "../protocol/rpc-response.ts";
import { hidesNothing, isAllowed, isListed, type McpAuthorization } from "./authorization.ts";

/** A message for a client; `hidden` if the client must not see it, `unreadable` if its contents are ambiguous. */
export type ShownMessage = { readonly text: string } | "hidden" | "unreadable";

/** Filters a target's message for a client. */
export type ListFilter = (message: Message) => ShownMessage;

/**
 * Returns a filter that removes hidden items from every list, and the details of errors, which may contain a list. Lists
 * are recognized by their shape, not by the request: a stream may repeat the response to an earlier request.
 */
export function rulesFilter(
  exchange: Exchange,
  access: McpAuthorization,
  target: string,
): ListFilter {
  return (message) => {
    if (message.kind === "response" && message.result === undefined) {
      return { text: rpcError(message.id, rpcCode.internal, "MCP server answered with an error") };
    }
    if (isHiddenUpdate(exchange, access, target, message)) return "hidden";
    const edited = editLists(message, (item) =>
      isListed(access, exchange, target, item) ? item.name : undefined,
    );
    if (typeof edited !== "string") return "unreadable";
    return { text: access.toolLock === undefined ? edited : onlyListMembers(edited) };
  };
}

/** Returns a filter for the response to an allowed call: it hides only updates of other resources. */
export function updatesFilter(
  exchange: Exchange,
  access: McpAuthorization,
  target: string,
): ListFilter {
  return (message) => (isHiddenUpdate(exchange, access, target, message) ? "hidden" : message);
}

/**
 * Whether a message announces the change of a hidden resource. Announced list changes also clear the lock's cache, so that
 * later calls request the lists again.
 */
export function isHiddenUpdate(
  exchange: Exchange,
  access: McpAuthorization,
  target: string,
  message: Message,
): boolean {
  const kind = CHANGED_KINDS.get(message.method);
  if (kind !== undefined) access.toolLock?.forget(target, kind);
  if (message.method !== "notifications/resources/updated" || hidesNothing(access)) return false;
  const name = stringParamOf(message, "uri");
  if (name === undefined) return true;
  return !isAllowed(access, exchange, "resources/subscribe", "resource", { name, target });
}

const CHANGED_KINDS: ReadonlyMap<string, McpPrimitiveKind> = new Map([
  ["notifications/tools/list_changed", "tool"],
  ["notifications/prompts/list_changed", "prompt"],
  ["notifications/resources/list_changed", "resource"],
]);
