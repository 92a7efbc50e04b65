import type { Exchange } from "../../http/exchange.ts";
import type { ListedItem } from "../protocol/list-edit.ts";
import { mcpMetrics } from "../rules/mcp-metrics.ts";
import type { OwnedRequest } from "../transports/item-owners.ts";
import type { McpTarget } from "../transports/target.ts";
import { shapeProblem } from "./item-shape.ts";

/**
 * Whether a merged list omits an entry: client libraries would refuse the whole list because of it. The omission is counted,
 * and logged once. `isRepeated`: whether the target has listed another entry with this name before.
 */
export function isOmitted(
  { exchange, isStateless }: Pick<OwnedRequest, "exchange" | "isStateless">,
  target: McpTarget,
  item: ListedItem,
  isRepeated: boolean,
): boolean {
  const isDuplicate = isRepeated && item.kind !== "resource";
  const problem = isDuplicate
    ? "the server lists this name twice"
    : shapeProblem(item.list, item.text, isStateless ? "stateless" : "sessions");
  if (problem === undefined) return false;
  mcpMetrics(exchange).omitted(exchange, target.name, item, problem);
  return true;
}

/** Tool names that all large providers of models accept. */
const MODEL_NAME = /^[\w-]{1,64}$/;

/** Warns once about a tool that models may refuse because of its name for clients, prefix included. */
export function checkName(
  exchange: Exchange,
  target: McpTarget,
  item: ListedItem,
  name: string,
): void {
  if (item.kind !== "tool" || MODEL_NAME.test(name)) return;
  const text =
    "may be refused by models: its name for clients is not 1 to 64 letters, digits, _ or -";
  mcpMetrics(exchange).warnAbout(exchange, target.name, item, text);
}
