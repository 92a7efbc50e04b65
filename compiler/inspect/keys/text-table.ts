import { visibleText } from "../../model/visible-text.ts";

/** Returns a table as text, with columns that are as wide as their longest cell. `isRight`: whether a column has numbers. */
export function textTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  isRight: (column: number) => boolean = () => false,
): string {
  const cells = [head, ...rows].map((row) => row.map((cell) => visibleText(cell)));
  const widths = head.map((_, column) =>
    cells.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), 0),
  );
  const aligned = (cell: string, column: number): string => {
    const width = widths[column] ?? 0;
    return isRight(column) ? cell.padStart(width) : cell.padEnd(width);
  };
  return cells.map((row) => `${row.map(aligned).join("  ").trimEnd()}\n`).join("");
}
