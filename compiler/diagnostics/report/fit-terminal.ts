import { stripVTControlCharacters } from "node:util";
import { cells } from "./display-width.ts";

/**
 * Breaks lines that are wider than a terminal at spaces, and indents the rest below the text of the line. Source lines
 * in frames are cut to the width already, so their marks stay below them.
 */
export function fitTerminal(text: string, width: number): string {
  return text
    .split("\n")
    .map((line) => (line.length > width ? fitLine(line, width) : line))
    .join("\n");
}

function fitLine(line: string, width: number): string {
  const plain = stripVTControlCharacters(line);
  if (widthOf(plain) <= width || FRAME.test(plain)) return line;
  const indent = indentOf(plain, width);
  let fitted = "";
  let column = 0;
  for (const [, gap = "", word = ""] of line.matchAll(WORD)) {
    const size = widthOf(stripVTControlCharacters(word));
    if (column > indent && column + gap.length + size > width) {
      fitted += `\n${" ".repeat(indent)}${word}`;
      column = indent + size;
    } else {
      fitted += gap + word;
      column += gap.length + size;
    }
  }
  return fitted;
}

/** A line of source in a frame, or of marks below it. */
const FRAME = /^ *\d* *\|/;

const WORD = /( *)([^ ]+)/g;

/** Column of the text of a line: after its hint, or after its last label, if that leaves most of the width. */
function indentOf(plain: string, width: number): number {
  const hint = /^ *(?:= )?(?:hint|note): /.exec(plain);
  if (hint !== null) return hint[0].length;
  const labels = Array.from(
    plain.matchAll(/(?:^|\S) {2,}(?=\S)/g),
    (gap) => gap.index + gap[0].length,
  );
  return labels.findLast((end) => end <= width * 0.4) ?? 2;
}

function widthOf(plain: string): number {
  return cells(plain).reduce((sum, { cell }) => sum + cell.width, 0);
}
