import { gatewaySummary } from "../../../4-emit/manifest/gateway-summary.ts";
import { gatewayGraph } from "../../../inspect/graph/gateway-graph.ts";
import type { LiveView } from "../view.ts";
import type { GraphData } from "./admin-api.ts";

/** Returns the graph of the gateway. */
export function graphData({ current: { program } }: LiveView): GraphData {
  const { nodes, edges } = gatewayGraph(gatewaySummary(program));
  return {
    nodes: nodes.map(({ id, column, lines }) => ({ id, column, lines })),
    edges: edges.map(({ from, to }) => ({ from, to })),
  };
}
