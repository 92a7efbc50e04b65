import type { Paint } from "../../diagnostics/report/colors.ts";
import type { Page, Part, Row } from "./page.ts";

/** Width and colors of a terminal. */
export interface TerminalStyle {
  readonly width: number;
  readonly paint: Paint;
}

/** Renders a page for a terminal: wrapped lines and aligned columns, without Markdown syntax. */
export function terminalPage({ title, parts }: Page, style: TerminalStyle): string {
  const blocks = [
    style.paint("bold", plain(title)),
    ...parts.map((part) => terminalPart(part, style)),
  ];
  return `${blocks.join("\n\n")}\n`;
}

function terminalPart(part: Part, { width, paint }: TerminalStyle): string {
  switch (part.kind) {
    case "paragraph":
      return plain(part.text)
        .replace(/\n(?![-\s])/g, " ")
        .split("\n")
        .flatMap((line) => (line.startsWith("- ") ? item(line, width) : wrapped(line, width)))
        .join("\n");
    case "heading":
      return paint("bold", part.text);
    case "example":
      return part.text.trimEnd().replace(/^/gm, "    ");
    case "table":
      return columns(part.rows, width);
  }
}

/** Wraps a list item with indented continuation lines. */
function item(line: string, width: number): readonly string[] {
  return wrapped(line.slice(2), width - 2).map((each, index) => (index === 0 ? "- " : "  ") + each);
}

/** Aligns rows in columns; if these leave little room for the last one, it moves below the others. */
function columns(rows: readonly Row[], width: number): string {
  const cells = rows.map((row) => row.map(plain));
  const count = Math.max(...cells.map((row) => row.length));
  const fixed = Array.from({ length: count - 1 }, (_, column) =>
    Math.max(...cells.map((row) => maxLine(row[column] ?? ""))),
  );
  const indent = fixed.reduce((sum, each) => sum + each + GAP, GAP);
  const format =
    2 * indent > width
      ? (row: Row) => stackedRow(row, width)
      : (row: Row) => alignedRow(row, fixed, width - indent);
  return cells.map(format).join("\n");
}

/** `rest` is the width of the last cell. */
function alignedRow(row: Row, fixed: readonly number[], rest: number): string {
  const parts = row.map((cell, column) => {
    const lines = cell.split("\n");
    return column === fixed.length ? lines.flatMap((line) => wrapped(line, rest)) : lines;
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

/** Puts the last cell, and what does not fit next to the row's name, below it. */
function stackedRow([first = "", ...others]: Row, width: number): string {
  const names = first.split("\n");
  const rest = width - STACKED_INDENT;
  const room = width - 2 * GAP - (names.at(-1)?.length ?? 0);
  const isInline = (cell: string, index: number): boolean =>
    cell.length <= Math.min(SHORT, room) && index < others.length - 1;
  const inline = others.filter(isInline);
  const below = others
    .filter((cell, index) => !isInline(cell, index))
    .join("\n")
    .split("\n");
  return [
    ...names.slice(0, -1).map((each) => `${" ".repeat(GAP)}${each}`),
    " ".repeat(GAP) + [names.at(-1), ...inline].join(" ".repeat(GAP)),
    ...below
      .flatMap((line) => wrapped(line, rest))
      .map((line) => `${" ".repeat(STACKED_INDENT)}${line}`),
  ].join("\n");
}

/** Spaces before and between cells. */
const GAP = 2;
const STACKED_INDENT = 6;
/** Maximum length of a cell that stays on the line of the row's name: a type, a phase. */
const SHORT = 20;

function maxLine(text: string): number {
  return Math.max(...text.split("\n").map((line) => line.length));
}

/** Removes the Markdown syntax of code and emphasis; the contents of code are unchanged. */
function plain(text: string): string {
  return text.replace(/`([^`]+)`|\*\*?([^*\n]+)\*\*?/g, "$1$2");
}

/** Breaks a text at spaces into lines of at most `width` columns; longer words keep a line of their own. */
export function wrapped(text: string, width: number): readonly string[] {
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
