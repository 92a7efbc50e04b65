import type { TextRange } from "../../json/json-text.ts";
import { type Message, textAt, withId } from "../protocol/message.ts";
import { edited, paramOf, replaced } from "../protocol/message-edit.ts";
import type { AddressedPrimitive } from "../protocol/primitives.ts";
import { splitId } from "./aggregate-ids.ts";

/** A client's message for one target of a merged route. */
export interface Routed {
  readonly index: number;
  readonly message: Message;
}

/** The request with its item under the name that the target knows. */
export function withItemName(request: Message, item: AddressedPrimitive, name: string): Message {
  return name === item.name ? request : edited(request, [replaced(item.at, JSON.stringify(name))]);
}

/** The request with another cursor. */
export function withCursor(request: Message, at: TextRange, cursor: string): Message {
  return edited(request, [replaced(at, JSON.stringify(cursor))]);
}

/** The client's response to a server's request, for the server that asked; undefined when none did. */
export function routeResponse(response: Message): Routed | undefined {
  const split = splitId(response.id);
  return split && { index: split.index, message: withId(response, split.id) };
}

/** The client's notification for the one server that it is about; undefined when it is for all. */
export function routeNotification(notification: Message): Routed | undefined {
  if (notification.method !== "notifications/progress") return undefined;
  const token = paramOf(notification, "progressToken");
  const split = token && splitId(textAt(notification.text, token));
  if (token === undefined || split === undefined) return undefined;
  return { index: split.index, message: edited(notification, [replaced(token, split.id)]) };
}
