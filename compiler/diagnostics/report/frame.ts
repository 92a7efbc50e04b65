import type { MessageCode } from "../messages/index.ts";
import type { Location } from "../source.ts";
import { type Cell, cells } from "./display-width.ts";
import { shownLine } from "./secrets.ts";

/** A source line cut to the available width, and the columns of the marker. */
export interface FrameLine {
  /** Starts at 1. */
  readonly number: number;
  readonly text: string;
  readonly markStart: number;
  /** At least 1. */
  readonly markWidth: number;
}

/** Width of the source in a frame, in columns. */
const WIDTH = 96;
/** Columns before the marker in a cut line. */
const LEAD = 32;
const CUT: Cell = { text: "…", width: 1 };

/**
 * Returns the source line of a diagnostic with its marker; `undefined` without source (a file that could not be read).
 */
export function frameLine(location: Location, code: MessageCode): FrameLine | undefined {
  const { text, start, line } = location;
  if (text === "") return undefined;
  const lineStart = start === 0 ? 0 : text.lastIndexOf("\n", start - 1) + 1;
  const lineEnd = endOfLine(text, start);
  const markEnd = Math.min(Math.max(location.end, start), lineEnd);
  const [from, to] = [start - lineStart, markEnd - lineStart];
  const shown = shownLine(code, text.slice(lineStart, lineEnd), from, to);
  return { number: line, ...mark(shown, from, to) };
}

function endOfLine(text: string, offset: number): number {
  const end = text.indexOf("\n", offset);
  if (end < 0) return text.length;
  return end > 0 && text[end - 1] === "\r" && end > offset ? end - 1 : end;
}

function mark(line: string, start: number, end: number): Omit<FrameLine, "number"> {
  const all = cells(line);
  const startColumn = widthBefore(all, start);
  const markWidth = Math.max(1, widthBefore(all, end) - startColumn);
  const total = widthBefore(all, line.length);
  if (total <= WIDTH)
    return { text: all.map(({ cell }) => cell.text).join(""), markStart: startColumn, markWidth };
  const from = startColumn + Math.min(markWidth, WIDTH / 2) > WIDTH ? startColumn - LEAD : 0;
  return cut(all, from, startColumn, markWidth);
}

type Line = ReturnType<typeof cells>;

function widthBefore(line: Line, offset: number): number {
  let width = 0;
  for (const each of line) {
    if (each.offset >= offset) break;
    width += each.cell.width;
  }
  return width;
}

/** Cuts a line to the columns from `from` on that fit, with ellipses for missing parts. */
function cut(
  line: Line,
  from: number,
  startColumn: number,
  markWidth: number,
): Omit<FrameLine, "number"> {
  const kept: Cell[] = [];
  let column = 0;
  let first = 0;
  let width = 0;
  let isCutAfter = false;
  for (const { cell } of line) {
    if (column >= from) {
      if (kept.length === 0) first = column;
      if (width + cell.width > WIDTH) {
        isCutAfter = true;
        break;
      }
      kept.push(cell);
      width += cell.width;
    }
    column += cell.width;
  }
  const before = first > 0 ? [CUT] : [];
  const text = [...before, ...kept, ...(isCutAfter ? [CUT] : [])].map((cell) => cell.text).join("");
  const markStart = startColumn - first + before.length;
  return { text, markStart, markWidth: Math.min(markWidth, width + before.length - markStart) };
}
