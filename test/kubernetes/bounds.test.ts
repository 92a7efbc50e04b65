import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { boundDocument, boundTables } from "./bounds/tables.ts";
import { isGood } from "./shapes.ts";

describe.each(boundTables)("$kind", (table) => {
  const spelled = table.bounds.map(([path, good, bad]) => ({ path, good, bad }));
  it.each(spelled)("$path takes the last good value and refuses the first bad one", (bound) => {
    const { path, good, bad } = bound;
    for (const [value, expected] of [
      [good, true],
      [bad, false],
    ] as const) {
      const { isGood: found, said } = isGood(table.kind, boundDocument(table, path, value));
      const shown = stringify(value).slice(0, 80);
      expect(found, `${path}: ${shown} ${said.join("; ")}`).toBe(expected);
    }
  });
});
