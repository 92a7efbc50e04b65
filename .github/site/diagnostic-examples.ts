import { globSync, readFileSync } from "node:fs";
import path from "node:path";

const FIXTURES = path.resolve(import.meta.dirname, "../../test/compiler/diagnostics/fixtures");

/** Lines of a fixture that show where its mistake is. */
const CONTEXT = 6;

const MARK = /^(.*?)\s*# ((error|warning|note)\[([\w-]+)\]: (.*))$/;

/**
 * Returns a section with an example for each code whose diagnostic a fixture of the tests provokes: the line with the
 * mistake, those before it, and the diagnostic.
 */
export function diagnosticExamples(): ReadonlyMap<string, string> {
  const examples = new Map<string, string>();
  for (const file of globSync("*.yaml", { cwd: FIXTURES }).toSorted()) {
    const lines = readFileSync(path.join(FIXTURES, file), "utf8").split("\n");
    for (const [index, line] of lines.entries()) {
      const [, , , , code] = MARK.exec(line) ?? [];
      if (code === undefined || examples.has(code)) continue;
      examples.set(code, section(lines.slice(Math.max(0, index - CONTEXT), index + 1)));
    }
  }
  return examples;
}

function section(lines: readonly string[]): string {
  const [, , report = ""] = MARK.exec(lines.at(-1) ?? "") ?? [];
  // Hints follow the message after a bar.
  const shown = report.replace(/ \| (?=[^|]*$)/, "\n  = hint: ");
  const uncommented = lines.filter((line) => !line.startsWith("#"));
  const yaml = dedented(uncommented.map((line) => MARK.exec(line)?.[1] ?? line)).join("\n");
  return `## Example\n\n\`\`\`yaml\n${yaml}\n\`\`\`\n\n\`\`\`text\n${shown}\n\`\`\``;
}

function dedented(lines: readonly string[]): readonly string[] {
  const widths = lines.filter((line) => line.trim() !== "").map((line) => line.search(/\S/));
  return lines.map((line) => line.slice(Math.min(...widths)));
}
