import { calledName } from "../protocol/called-tool.ts";
import { type Message, ownMessage } from "../protocol/message.ts";
import {
  listedParamHeaders,
  type ParamHeader,
  paramHeaderList,
} from "../protocol/param-headers.ts";
import { rpcResult } from "../protocol/rpc-response.ts";
import type { McpTarget } from "../transports/target.ts";
import type { VisibleItem } from "./whole-list.ts";

/** Maximum number of tools whose arguments are repeated in headers. */
const MAX_TOOLS = 10_000;

/** The headers that repeat arguments of tools (MCP 2026-07-28), as far as the tools have been listed. */
export class NotedHeaders {
  /** By target and name of a tool. */
  readonly #byTool = new Map<string, readonly ParamHeader[]>();

  /** Notes the headers of a listed tool. */
  note({ owner, item }: VisibleItem): void {
    const list = ownMessage(rpcResult("0", `{"tools":[${item.text}]}`));
    for (const [name, headers] of listedParamHeaders(list))
      stored(this.#byTool, keyOf(owner.target, name), headers, MAX_TOOLS);
  }

  /** Returns the headers of a call to a target, as a flat list. */
  of(target: McpTarget, request: Message): readonly string[] {
    const params = this.#byTool.get(keyOf(target, calledName(request) ?? ""));
    return params === undefined ? [] : paramHeaderList(request, params);
  }
}

/** Stores an entry as the newest, and drops the oldest beyond a maximum. */
export function stored<Value>(
  map: Map<string, Value>,
  key: string,
  value: Value,
  max: number,
): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > max && oldest !== undefined) map.delete(oldest);
}

function keyOf({ name }: McpTarget, tool: string): string {
  return `${name}\n${tool}`;
}
