import { readFileSync } from "node:fs";
import path from "node:path";
import { realHost } from "../../../compiler/host.ts";
import { checkInput } from "../../../compiler/inspect/check-input.ts";

/** The folder of the fixtures: configurations whose comments say what is wrong with them. */
export const fixtures = path.join(import.meta.dirname, "fixtures");

/** A diagnostic as a fixture expects it: `12 error[unknown-field]: ... | hint: ...`. */
export type Expectation = string;

/**
 * The expected diagnostics in the comments of a fixture. `# error[code]: message` is on the offending line; `# next:
 * error[...]` on the line before, where the line itself cannot have a comment. ` | hint` at the end expects the hint as
 * well.
 */
export function expectations(file: string): readonly Expectation[] {
  const lines = readFileSync(path.join(fixtures, file), "utf8").split("\n");
  return lines.flatMap((line, index) => {
    const [, next, text] = /# (next: )?((?:error|warning|note)\[[\w-]+\]: .*)$/.exec(line) ?? [];
    return text === undefined ? [] : [`${index + (next === undefined ? 1 : 2)} ${text}`];
  });
}

/** Returns the diagnostics of gwc for a fixture in the same form; hints where the fixture expects one on that line. */
export function reported(file: string, expected: readonly Expectation[]): readonly string[] {
  const [first = ""] = readFileSync(path.join(fixtures, file), "utf8").split("\n");
  const variables = Object.fromEntries(
    [...first.matchAll(/\b([A-Z_]+)=(\S*)/g)].map(([, name = "", value = ""]) => [name, value]),
  );
  const { findings } = checkInput([path.join(fixtures, file)], realHost(variables), false);
  return findings.map(({ severity, code, message, hint, location }) => {
    const text = `${location.line} ${severity}[${code}]: ${message}`;
    const whole = `${text} | ${hint}`;
    return expected.includes(whole) ? whole : text;
  });
}
