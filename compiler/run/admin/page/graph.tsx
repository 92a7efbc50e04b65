import { useState } from "preact/hooks";
import type { GraphData } from "../api/admin-api.ts";
import type { PageProps } from "./app.tsx";
import { useData } from "./data.ts";
import { visible } from "./format.ts";
import { Card, Empty, Loading, PageHead, Problem } from "./parts.tsx";

const WIDTHS = [200, 330, 300] as const;
const GAP = 84;
const LINE = 18;
const PADDING = 12;

interface Box {
  readonly node: GraphData["nodes"][number];
  readonly x: number;
  readonly y: number;
  readonly height: number;
}

/** Listeners, routes with their policies, and servers, joined by arrows. */
export function GraphPage({ gateway }: PageProps) {
  const { data, problem } = useData<GraphData>(`graph?version=${gateway.generation}`);
  const [chosen, setChosen] = useState<string>();
  return (
    <>
      <PageHead
        title="Graph"
        about="From listeners over routes and their policies to servers. Choose a box to see what it is joined to."
      />
      {problem !== undefined && <Problem>{problem}</Problem>}
      {data === undefined ? (
        problem === undefined && <Loading />
      ) : data.nodes.length === 0 ? (
        <Empty icon="graph" title="The gateway serves nothing" />
      ) : (
        <Card class="graph-card">
          <Drawing graph={data} chosen={chosen} onChoose={setChosen} />
        </Card>
      )}
    </>
  );
}

function Drawing({
  graph: { nodes, edges },
  chosen,
  onChoose,
}: {
  graph: GraphData;
  chosen: string | undefined;
  onChoose: (id: string | undefined) => void;
}) {
  const boxes = new Map(placed(nodes).map((box) => [box.node.id, box]));
  const bottom = Math.max(0, ...[...boxes.values()].map(({ y, height }) => y + height));
  const width = WIDTHS.reduce((sum, each) => sum + each, 0) + 2 * GAP + 2;
  const joined = chosen === undefined ? undefined : joinedTo(chosen, edges);
  const isShown = (id: string) => joined === undefined || joined.has(id);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: readers without a mouse scroll it with the arrow keys.
    <section class="scroll" tabIndex={0} aria-label="Graph of the gateway">
      {/* biome-ignore lint/a11y/noSvgWithoutTitle: each box in it has a name. */}
      <svg class="graph" width={width} height={bottom + 2} viewBox={`-1 -1 ${width} ${bottom + 2}`}>
        {edges.map(({ from, to }) => {
          const [start, end] = [boxes.get(from), boxes.get(to)];
          if (start === undefined || end === undefined) return null;
          const isOwn = isShown(from) && isShown(to);
          return (
            <path
              key={`${from} ${to}`}
              class={isOwn ? (joined === undefined ? "edge" : "edge own") : "edge faint"}
              d={curve(start, end)}
            />
          );
        })}
        {[...boxes.values()].map((box) => (
          <BoxView
            key={box.node.id}
            box={box}
            isFaint={!isShown(box.node.id)}
            isChosen={box.node.id === chosen}
            onChoose={() => onChoose(box.node.id === chosen ? undefined : box.node.id)}
          />
        ))}
      </svg>
    </section>
  );
}

function BoxView({
  box: { node, x, y, height },
  isFaint,
  isChosen,
  onChoose,
}: {
  box: Box;
  isFaint: boolean;
  isChosen: boolean;
  onChoose: () => void;
}) {
  const width = WIDTHS[node.column];
  return (
    // biome-ignore lint/a11y/useSemanticElements: a box of a drawing cannot be a button element.
    <g
      class={`node column-${node.column}${isFaint ? " faint" : ""}${isChosen ? " chosen" : ""}`}
      role="button"
      tabindex={0}
      aria-pressed={isChosen}
      onClick={onChoose}
      onKeyDown={(event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        onChoose();
      }}
    >
      <rect x={x} y={y} width={width} height={height} rx="8" />
      {linesOf(node).map(({ text, isName }, index) => (
        <text
          key={`${index} ${text}`}
          class={isName ? "node-name" : "node-line"}
          x={x + PADDING}
          y={y + PADDING + index * LINE + 13}
        >
          {text}
        </text>
      ))}
    </g>
  );
}

/** Maximum lines that one text of a box is wrapped to. */
const MAX_LINES = 4;

/** Returns the texts of a box, wrapped to its width. */
function linesOf({
  column,
  lines,
}: Box["node"]): readonly { readonly text: string; readonly isName: boolean }[] {
  return lines.flatMap((line, index) => {
    const isName = index === 0;
    const length = Math.floor((WIDTHS[column] - 2 * PADDING) / (isName ? 7.8 : 6.6));
    return wrapped(visible(line), length).map((text) => ({ text, isName }));
  });
}

function wrapped(text: string, length: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const isFull = line !== "" && line.length + 1 + word.length > length;
    if (isFull) lines.push(line);
    line = isFull || line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line]
    .slice(0, MAX_LINES)
    .map((each) => (each.length > length ? `${each.slice(0, length - 1)}…` : each));
}

/** Stacks the boxes of each column. */
function placed(nodes: GraphData["nodes"]): readonly Box[] {
  const next = [0, 0, 0];
  return nodes.map((node) => {
    const { column } = node;
    const height = linesOf(node).length * LINE + 2 * PADDING - 4;
    const y = next[column] ?? 0;
    next[column] = y + height + 16;
    const x = WIDTHS.slice(0, column).reduce((sum, each) => sum + each + GAP, 0);
    return { node, x, y, height };
  });
}

function curve(from: Box, to: Box): string {
  const [startX, startY] = [from.x + WIDTHS[from.node.column], from.y + from.height / 2];
  const [endX, endY] = [to.x, to.y + to.height / 2];
  const middle = (startX + endX) / 2;
  return `M${startX} ${startY}C${middle} ${startY} ${middle} ${endY} ${endX} ${endY}`;
}

/** Returns a box and all boxes before and behind it. */
function joinedTo(id: string, edges: GraphData["edges"]): ReadonlySet<string> {
  const found = new Set([id]);
  const follow = (from: "from" | "to", to: "from" | "to") => {
    let open = [id];
    while (open.length > 0) {
      open = edges.flatMap((edge) =>
        open.includes(edge[from]) && !found.has(edge[to]) ? [edge[to]] : [],
      );
      for (const each of open) found.add(each);
    }
  };
  follow("from", "to");
  follow("to", "from");
  return found;
}
