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

/** Returns the request with the target's name of the item. */
export function withItemName(request: Message, item: AddressedPrimitive, name: string): Message {
  return name === item.name ? request : edited(request, [replaced(item.at, JSON.stringify(name))]);
}

/** Returns the request with another cursor. */
export function withCursor(request: Message, at: TextRange, cursor: string): Message {
  return edited(request, [replaced(at, JSON.stringify(cursor))]);
}

/** Returns the client's response for the server that sent the request; `undefined` if none did. */
export function routeResponse(response: Message): Routed | undefined {
  const split = splitId(response.id);
  return split && { index: split.index, message: withId(response, split.id) };
}

/** Returns the client's notification for the only server that it concerns; `undefined` if it is for all. */
export function routeNotification(notification: Message): Routed | undefined {
  if (notification.method !== "notifications/progress") return undefined;
  const token = paramOf(notification, "progressToken");
  const split = token && splitId(textAt(notification.text, token));
  if (token === undefined || split === undefined) return undefined;
  return { index: split.index, message: edited(notification, [replaced(token, split.id)]) };
}
