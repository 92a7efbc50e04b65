import { policiesText } from "../../../../templates/policies/parts/chain.ts";
import { gatewaySummary } from "../../../4-emit/manifest/gateway-summary.ts";
import { gatewayGraph } from "../../../inspect/graph/gateway-graph.ts";
import { joinedPolicies } from "../../../ir/joined-policies.ts";
import { servedRoutes } from "../../../ir/routes.ts";
import type { LiveView } from "../view.ts";
import type { GraphData } from "./admin-api.ts";

/** Returns the graph of the gateway, in which policies have their details: `custom (tenant)`. */
export function graphData({ current: { program } }: LiveView): GraphData {
  const { nodes, edges } = gatewayGraph(gatewaySummary(program));
  const details = new Map(
    servedRoutes(program).map(({ route }) => {
      const policies = joinedPolicies(route.policies);
      const kinds = policies.map(({ kind }) => kind).join(" · ");
      return [route.name, { kinds, texts: policies.map((use) => policiesText([use])) }] as const;
    }),
  );
  return {
    nodes: nodes.map(({ id, column, lines }) => {
      const detail = column === 1 ? details.get(lines[0] ?? "") : undefined;
      const shown = lines.map((line) => (line === detail?.kinds ? detail.texts.join(" · ") : line));
      return { id, column, lines: detail === undefined ? lines : shown };
    }),
    edges: edges.map(({ from, to }) => ({ from, to })),
  };
}
