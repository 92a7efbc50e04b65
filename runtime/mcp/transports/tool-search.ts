import type { Exchange } from "../../http/exchange.ts";
import type { Message } from "../protocol/message.ts";
import type { OwnedRequest } from "./item-owners.ts";
import type { McpTarget } from "./target.ts";

/** Tools of the gateway by which clients find and call the tools of an endpoint with many of them. */
export interface ToolSearch {
  /**
   * Returns the call that a call of the gateway's own tool stands for; other messages as they are. Returns a string that
   * describes the problem if the arguments are malformed.
   */
  meant(message: Message): Message | string;
  /** Whether the gateway itself responds to a message, for which no rule is asked but about the tools in the response. */
  serves(message: Message): boolean;
  serve(owned: OwnedRequest): void;
  /** Drops what is cached if a target's message announces that its tools have changed. */
  notice(message: Message): void;
  /**
   * Returns the headers that repeat arguments of a call to a target (MCP 2026-07-28), as a flat list: the client does not know
   * the tool's schema. `undefined` if the client has called the tool itself.
   */
  paramHeaders(
    exchange: Exchange,
    target: McpTarget,
    request: Message,
  ): readonly string[] | undefined;
}
