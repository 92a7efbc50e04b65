import type { ListedItem } from "../protocol/list-edit.ts";
import { McpMetrics } from "../rules/mcp-metrics.ts";
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
  exchange.gateway.metrics.part(McpMetrics).omitted(exchange, target.name, item, problem);
  return true;
}
