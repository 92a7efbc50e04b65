import type { GatewayGraph } from "./gateway-graph.ts";

/** Renders a graph as a Mermaid flowchart, which GitHub draws in comments and documents. */
export function mermaidText({ nodes, edges }: GatewayGraph): string {
  const names = new Map(nodes.map(({ id }, index) => [id, `n${index}`]));
  const isMarked = nodes.some(({ change }) => change !== "same");
  const lines = [
    "flowchart LR",
    ...nodes.map(({ id, lines: texts, change }) => {
      const mark = change === "same" ? "" : `:::${change}`;
      return `  ${names.get(id)}["${texts.map(labelText).join("<br/>")}"]${mark}`;
    }),
    ...edges.map(({ from, to, change }) => {
      const arrow = change === "removed" ? "-.->" : change === "added" ? "==>" : "-->";
      return `  ${names.get(from)} ${arrow} ${names.get(to)}`;
    }),
    ...(isMarked ? STYLES : []),
  ];
  return `${lines.join("\n")}\n`;
}

const STYLES = [
  "  classDef added fill:#dafbe1,stroke:#1a7f37,color:#1f2328",
  "  classDef removed fill:#ffebe9,stroke:#cf222e,color:#1f2328,stroke-dasharray:4",
  "  classDef changed fill:#fff8c5,stroke:#9a6700,color:#1f2328",
];

/** Escapes a label: everything but plain characters becomes an entity, so that configuration cannot inject markup. */
function labelText(text: string): string {
  return text.replace(/[^\w .,:/*·=~+-]/gu, (character) => `#${character.codePointAt(0)};`);
}
