import type { Exchange } from "../../http/exchange.ts";
import type { McpPrimitiveKind } from "../protocol/item-lists.ts";
import { editLists, onlyListMembers } from "../protocol/list-edit.ts";
import type { Message } from "../protocol/message.ts";
import { stringParamOf } from "../protocol/message-edit.ts";
import { rpcCode, rpcError } from "../protocol/rpc-response.ts";
import { hidesNothing, isAllowed, isListed, type McpAuthorization } from "./authorization.ts";

/** A message as a client is shown it; `hidden`: not at all; `unreadable`: nobody can say what it shows. */
export type ShownMessage = { readonly text: string } | "hidden" | "unreadable";

/** What a client is shown of a target's message. */
export type ListFilter = (message: Message) => ShownMessage;

/**
 * Leaves out of every list what the rules hide, and out of errors what they say, which may be a list too. Lists are known by
 * their shape, not by the request: a stream may repeat the response to an earlier one.
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

/** For what comes with the response to a call that the rules allow: it says nothing of other resources. */
export function updatesFilter(
  exchange: Exchange,
  access: McpAuthorization,
  target: string,
): ListFilter {
  return (message) => (isHiddenUpdate(exchange, access, target, message) ? "hidden" : message);
}

/** Whether a message says that a resource has changed which the rules hide. Of lists that have changed calls ask again. */
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
