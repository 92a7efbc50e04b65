import type { Paint } from "../../diagnostics/report/colors.ts";
import type { Page, Part, Row } from "./page.ts";

/** How a page is shown: the columns of the terminal, and its colours. */
export interface TerminalStyle {
  readonly width: number;
  readonly paint: Paint;
}

/** A page for a terminal: wrapped lines and aligned columns, without the marks of Markdown. */
export function terminalPage({ title, parts }: Page, style: TerminalStyle): string {
  const blocks = [style.paint("bold", title), ...parts.map((part) => terminalPart(part, style))];
  return `${blocks.join("\n\n")}\n`;
}

function terminalPart(part: Part, { width, paint }: TerminalStyle): string {
  switch (part.kind) {
    case "paragraph":
      return plain(part.text)
        .replace(/\n(?![-\s])/g, " ")
        .split("\n")
        .flatMap((line) => wrapped(line, width))
        .join("\n");
    case "heading":
      return paint("bold", part.text);
    case "example":
      return part.text.trimEnd().replace(/^/gm, "    ");
    case "table":
      return columns(part.rows, width);
  }
}

/** Rows under each other in aligned columns; where those leave the last one little room, it stands below the others. */
function columns(rows: readonly Row[], width: number): string {
  const cells = rows.map((row) => row.map(plain));
  const count = Math.max(...cells.map((row) => row.length));
  const fixed = Array.from({ length: count - 1 }, (_, column) =>
    Math.max(...cells.map((row) => longestLine(row[column] ?? ""))),
  );
  const indent = fixed.reduce((sum, each) => sum + each + GAP, GAP);
  const format = 2 * indent > width ? stackedRow : alignedRow;
  return cells.map((row) => format(row, fixed, width)).join("\n");
}

function alignedRow(row: Row, fixed: readonly number[], width: number): string {
  const indent = fixed.reduce((sum, each) => sum + each + GAP, GAP);
  const parts = row.map((cell, column) => {
    const lines = cell.split("\n");
    return column === fixed.length ? lines.flatMap((line) => wrapped(line, width - indent)) : lines;
  });
  const height = Math.max(...parts.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) =>
    parts
      .map((lines, column) => (lines[line] ?? "").padEnd(fixed[column] ?? 0))
      .join(" ".repeat(GAP))
      .replace(/^/, " ".repeat(GAP))
      .trimEnd(),
  ).join("\n");
}

function stackedRow([first = "", ...others]: Row, _: readonly number[], width: number): string {
  const names = first.split("\n");
  const beside = others.slice(0, -1).filter((cell) => cell.length <= SHORT);
  const below = others
    .filter((cell) => !beside.includes(cell))
    .join("\n")
    .split("\n");
  return [
    ...names.slice(0, -1).map((each) => `${" ".repeat(GAP)}${each}`),
    " ".repeat(GAP) + [names.at(-1), ...beside].join(" ".repeat(GAP)),
    ...below
      .flatMap((line) => wrapped(line, width - STACKED_INDENT))
      .map((line) => `${" ".repeat(STACKED_INDENT)}${line}`),
  ].join("\n");
}

/** Columns between cells, and before the first. */
const GAP = 2;
const STACKED_INDENT = 6;
/** A cell that stands beside the name of its row: a type, a phase. */
const SHORT = 20;

function longestLine(text: string): number {
  return Math.max(...text.split("\n").map((line) => line.length));
}

/** Code stands out by itself on a terminal, or is quoted where blanks would hide its ends. */
function plain(text: string): string {
  return text.replace(/`([^`]+)`/g, "$1").replace(/\*\*?([^*\n]+)\*\*?/g, "$1");
}

function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
