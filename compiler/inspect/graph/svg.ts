import type { GatewayGraph, GraphChange, GraphNode } from "./gateway-graph.ts";

interface Box {
  readonly node: GraphNode;
  readonly x: number;
  readonly y: number;
  readonly height: number;
}

/** Widths of the columns, in pixels. */
const WIDTHS = [200, 320, 320] as const;
const GAP = 90;
const LINE = 18;
const PADDING = 10;

/** Average width of a character in wide fonts, in pixels. */
const PLAIN = 7;
const BOLD = 8;

/** Renders a graph as SVG without scripts or external fonts and styles. */
export function svgText({ nodes, edges }: GatewayGraph): string {
  const boxes = new Map(placed(nodes).map((box) => [box.node.id, box]));
  const bottom = Math.max(0, ...[...boxes.values()].map(({ y, height }) => y + height));
  const width = WIDTHS.reduce((sum, each) => sum + each, 0) + 2 * GAP + 2 * PADDING;
  const lines = edges.flatMap(({ from, to, change }) => {
    const [start, end] = [boxes.get(from), boxes.get(to)];
    return start === undefined || end === undefined ? [] : arrow(start, end, change);
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${bottom + PADDING}" width="${width}" height="${bottom + PADDING}" font-family="system-ui, sans-serif" font-size="13">`,
    ...lines,
    ...[...boxes.values()].map(boxText),
    "</svg>",
    "",
  ].join("\n");
}

/** Stacks the boxes of each column. */
function placed(nodes: readonly GraphNode[]): readonly Box[] {
  const next = [PADDING, PADDING, PADDING];
  return nodes.map((node) => {
    const { column, lines } = node;
    const height = lines.length * LINE + 2 * PADDING;
    const y = next[column] ?? PADDING;
    next[column] = y + height + LINE;
    const before = WIDTHS.slice(0, column).reduce((sum, each) => sum + each + GAP, 0);
    return { node, x: PADDING + before, y, height };
  });
}

const FILLS: Readonly<Record<GraphChange, readonly [fill: string, stroke: string]>> = {
  same: ["#ffffff", "#59636e"],
  added: ["#dafbe1", "#1a7f37"],
  removed: ["#ffebe9", "#cf222e"],
  changed: ["#fff8c5", "#9a6700"],
};

function boxText({ node: { column, lines, change }, x, y, height }: Box): string {
  const [fill, stroke] = FILLS[change];
  const width = WIDTHS[column];
  const texts = lines.map((line, index) => {
    const top = y + PADDING + (index + 1) * LINE - 5;
    const isHead = index === 0;
    const weight = isHead ? ' font-weight="600"' : "";
    const maxLength = Math.floor((width - 2 * PADDING) / (isHead ? BOLD : PLAIN));
    const shown = line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line;
    return `    <text x="${x + PADDING}" y="${top}"${weight} fill="#1f2328">${escaped(shown)}</text>`;
  });
  const title = `    <title>${escaped([change === "same" ? "" : `(${change})`, ...lines].join("\n").trim())}</title>`;
  const rect = `    <rect x="${x}" y="${y}" width="${width}" height="${height}" rx="6" fill="${fill}" stroke="${stroke}"/>`;
  return ["  <g>", title, rect, ...texts, "  </g>"].join("\n");
}

function arrow(from: Box, to: Box, change: GraphChange): string {
  const [startX, startY] = [from.x + WIDTHS[from.node.column], from.y + from.height / 2];
  const [endX, endY] = [to.x, to.y + to.height / 2];
  const middle = (startX + endX) / 2;
  const dashes = change === "removed" ? ' stroke-dasharray="4"' : "";
  const curve = `M${startX} ${startY} C${middle} ${startY} ${middle} ${endY} ${endX} ${endY}`;
  return `  <path d="${curve}" fill="none" stroke="${FILLS[change][1]}"${dashes}/>`;
}

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
