import type { Exchange } from "../../http/exchange.ts";
import { editLists } from "../protocol/list-edit.ts";
import type { Message } from "../protocol/message.ts";
import { isAllowed, type McpAuthorization } from "./authorization.ts";

/** A message for the client, as text; undefined when it can't be shown. */
export type ListFilter = (message: Message) => string | undefined;

/**
 * Leaves out of every list what the rules hide. Lists are known by their shape, not by the request: a stream may repeat the
 * response to an earlier one.
 */
export function rulesFilter(
  exchange: Exchange,
  access: McpAuthorization,
  target: string,
): ListFilter {
  return (message) => {
    const edited = editLists(message, ({ kind, name }) =>
      isAllowed(access, exchange, methodsOf[kind], kind, { name, target }) ? name : undefined,
    );
    return typeof edited === "string" ? edited : undefined;
  };
}

const methodsOf = {
  tool: "tools/list",
  prompt: "prompts/list",
  resource: "resources/list",
} as const;
