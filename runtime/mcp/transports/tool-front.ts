import type { Exchange } from "../../http/exchange.ts";
import type { McpPrimitiveKind } from "../protocol/item-lists.ts";
import type { Message } from "../protocol/message.ts";
import type { OwnedRequest } from "./item-owners.ts";
import type { McpTarget } from "./target.ts";

/** Lists and names of tools that the gateway changes for clients: by configured views, or by a search. */
export interface ToolFront {
  /**
   * Returns the call of a target's tool that a client's call stands for; other messages as they are. Returns the message of an
   * error if it is malformed, or if clients do not know the name.
   */
  meant(message: Message): Message | string;
  /** Returns the client's name of an item, by the name that it has without views. */
  shownAs(kind: McpPrimitiveKind, name: string): string;
  /** Whether the gateway itself responds to a message, for which no rule is asked but about the tools in the response. */
  serves(message: Message): boolean;
  serve(owned: OwnedRequest): void;
  /** Drops what is cached if a target's message announces that its tools have changed. */
  notice(message: Message): void;
  /**
   * Returns the headers that repeat arguments of a call to a target (MCP 2026-07-28), as a flat list: the client does not know
   * the target's schema. `undefined` if it does.
   */
  paramHeaders(
    exchange: Exchange,
    target: McpTarget,
    request: Message,
  ): readonly string[] | undefined;
}
