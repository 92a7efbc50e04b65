import type { Exchange } from "../../http/exchange.ts";
import { elementsOf, isArrayAt, isObjectAt, stringAt } from "../../json/json-text.ts";
import { type Message, readMessage, textAt } from "../protocol/message.ts";
import { edited, paramOf, replaced } from "../protocol/message-edit.ts";
import { fieldOf, readFields } from "../protocol/message-fields.ts";
import { errorCodeOf } from "../protocol/response-error.ts";
import { rpcCode, rpcError } from "../protocol/rpc-response.ts";
import { isAllowed, type McpAuthorization } from "../rules/authorization.ts";
import { type ListFilter, rulesFilter } from "../rules/list-filter.ts";

/**
 * Returns a filter that removes hidden items from lists, as in sessions. The filtered list depends on the caller, so shared
 * caches must not store it (MCP 2026-07-28, caching).
 */
export function statelessFilter(
  exchange: Exchange,
  access: McpAuthorization,
  target: string,
): ListFilter {
  const filter = rulesFilter(exchange, access, target);
  return (message) => {
    if (message.kind === "response" && message.result === undefined) {
      // The details of an error may contain a list; the client needs the code to decide what to do next.
      const code = errorCodeOf(message) ?? rpcCode.internal;
      return { text: rpcError(message.id, code, "The MCP server refused the request") };
    }
    const shown = filter(message);
    return typeof shown === "string" ? shown : { text: keptPrivate(shown.text) };
  };
}

/** Removes hidden resources from a subscription; `undefined` if it is malformed. */
export function withShownSubscriptions(
  exchange: Exchange,
  access: McpAuthorization,
  target: string,
  message: Message,
): Message | undefined {
  const { text } = message;
  const asked = paramOf(message, "notifications");
  if (asked === undefined || !isObjectAt(text, asked.start)) return undefined;
  const fields = readFields(text, asked.start, new Set(["resourceSubscriptions"]));
  if (typeof fields === "string") return undefined;
  const uris = fields.get("resourceSubscriptions");
  if (uris === undefined) return message;
  if (!isArrayAt(text, uris.start)) return undefined;
  const kept = elementsOf(text, uris.start).filter((at) => {
    const name = stringAt(text, at);
    const item = name === undefined ? undefined : { name, target };
    return item && isAllowed(access, exchange, message.method, "resource", item);
  });
  const list = `[${kept.map((at) => textAt(text, at)).join(",")}]`;
  return edited(message, [replaced(uris, list)]);
}

function keptPrivate(text: string): string {
  const message = readMessage(text);
  if (message.kind === "problem" || message.result === undefined) return text;
  const scope = fieldOf(text, message.result, "cacheScope");
  return scope === undefined ? text : edited(message, [replaced(scope, '"private"')]).text;
}
