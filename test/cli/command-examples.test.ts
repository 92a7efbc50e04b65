import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { readArguments } from "../../compiler/commands/arguments.ts";
import { commands } from "../../compiler/commands/commands.ts";
import { root } from "../harness/root.ts";

/** A command line of a text, and the text. */
interface ShownCommand {
  readonly line: string;
  readonly from: string;
}

/** Returns the examples of the help of every command. */
async function examplesOfHelp(): Promise<readonly ShownCommand[]> {
  const loaded = commands.map(async ({ name, load }) => {
    const { examples } = await load();
    return examples.map((line) => ({ line, from: `gwc ${name} --help` }));
  });
  return (await Promise.all(loaded)).flat();
}

/** Returns the lines of code in guides that run gwc. */
function linesOfGuides(): readonly ShownCommand[] {
  return globSync(".github/guides/**/*.md", { cwd: root }).flatMap((from) => {
    const text = readFileSync(path.join(root, from), "utf8");
    const blocks = text
      .split(/^```/m)
      .filter((part, index) => index % 2 === 1 && /^(sh|bash)\n/.test(part));
    return blocks.flatMap((block) => block.split("\n")).map((line) => ({ line, from }));
  });
}

/** Returns the words of each gwc command in a line of a shell, up to a redirection or a comment. */
function commandsIn(line: string): readonly (readonly string[])[] {
  const parts: string[][] = [[]];
  for (const [, double, single, plain = ""] of line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)) {
    if (/^(\||&&|;)$/.test(plain)) parts.push([]);
    else if (/^(#|\d?>|<|\\$|&$)/.test(plain)) break;
    else parts.at(-1)?.push(double ?? single ?? plain);
  }
  return parts.flatMap((words) => {
    const at = words.findIndex((word) => !/^([A-Z_]+=.*|npx)$/.test(word));
    return words[at] === "gwc" && words.length > at + 1 ? [words.slice(at + 1)] : [];
  });
}

/** Returns what is wrong with a command; `undefined` if it takes the words. */
async function problemOf([first = "", ...rest]: readonly string[]): Promise<string | undefined> {
  if (first.startsWith("-") || first === "help") return undefined;
  const entry = commands.find(({ name }) => name === first);
  if (entry === undefined) return `there is no command "${first}"`;
  const read = readArguments(entry, await entry.load(), rest);
  return read.kind === "usage" ? read.problem : undefined;
}

it("commands take the examples of their help and of the guides", async () => {
  const shown = [...(await examplesOfHelp()), ...linesOfGuides()].flatMap(({ line, from }) =>
    commandsIn(line).map((words) => ({ words, from })),
  );
  expect(shown.length).toBeGreaterThan(100);
  const problems = shown.map(async ({ words, from }) => {
    const problem = await problemOf(words);
    return problem === undefined ? [] : [`${from}: ${words.join(" ")}: ${problem}`];
  });
  expect((await Promise.all(problems)).flat()).toEqual([]);
});
