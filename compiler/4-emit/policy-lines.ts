import { SourceMap, type SourceMapPayload } from "node:module";
import type { PolicyLines } from "../../runtime/policies/custom/policy-lines.ts";

/** Value of the constant in a bundle, until its lines are known. Replacing it changes no line. */
export const LINES_PLACEHOLDER = { placeholder: "GWC_POLICY_LINES" };

const PLACEHOLDER = 'placeholder: "GWC_POLICY_LINES"';

/**
 * Inserts the table of lines of users' modules into a bundle. `map`: its source map; `above`: number of lines that are added
 * above it.
 */
export function withPolicyLines(text: string, map: string, above: number): string {
  // esbuild writes version 3, which is all that Node.js reads.
  const payload: SourceMapPayload = JSON.parse(map);
  const table = Object.entries(policyLines(text, new SourceMap(payload), above)).map(
    ([module, { from, lines }]) =>
      `${JSON.stringify(module)}: { from: ${from}, lines: [${lines.join(", ")}] }`,
  );
  return text.replace(PLACEHOLDER, () => table.join(", "));
}

/** Comments of esbuild above each module. */
const MODULE = /^\/\/ (?:generated:(policies\/.*)|\S+)$/;

function policyLines(text: string, map: SourceMap, above: number): PolicyLines {
  const table: Record<string, { from: number; lines: number[] }> = {};
  let module: string | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    const heading = MODULE.exec(line);
    if (heading !== null) {
      module = heading[1];
      if (module !== undefined) table[module] = { from: above + index + 2, lines: [] };
      continue;
    }
    const lines = module === undefined ? undefined : table[module]?.lines;
    if (lines === undefined) continue;
    const found = map.findEntry(index, Math.max(0, line.search(/\S/)));
    lines.push("originalLine" in found ? found.originalLine + 1 : 0);
  }
  return table;
}
