import { SourceMap, type SourceMapPayload } from "node:module";

/**
 * Moves the lines of transpiled code to the lines of its source, so that stack traces name these. Lines move down only: code that
 * is longer than its source stays below its place until blank lines, comments or types of the source follow.
 */
export function alignedLines(code: string, map: string): string {
  // TypeScript writes version 3, which is all that Node.js reads.
  const payload: SourceMapPayload = JSON.parse(map);
  const lineOf = linesOfSource(new SourceMap(payload));
  const aligned: string[] = [];
  for (const [index, line] of code.split("\n").entries()) {
    const target = lineOf(index, Math.max(0, line.search(/\S/)));
    const isFirst = aligned.length === 1 && aligned[0]?.endsWith(";") === true;
    if (isFirst && (target === undefined || target === 0)) {
      // TypeScript adds this at the start; it has no place in the source.
      aligned[0] += line;
      continue;
    }
    while (target !== undefined && aligned.length < target) aligned.push("");
    aligned.push(line);
  }
  return aligned.join("\n");
}

/** Returns the line of the source, from 0, of a position that a mapping starts at; `undefined` for others. */
function linesOfSource(map: SourceMap): (line: number, column: number) => number | undefined {
  return (line, column) => {
    const found = map.findEntry(line, column);
    const isExact =
      "originalLine" in found && found.generatedLine === line && found.generatedColumn === column;
    return isExact ? found.originalLine : undefined;
  };
}
