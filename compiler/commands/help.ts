import { wrapped } from "../inspect/reference/terminal.ts";
import { optionUsage } from "./arguments.ts";
import type { Command, Option } from "./command.ts";
import type { CommandEntry } from "./commands.ts";
import { help } from "./shared-options.ts";

/** Renders `gwc --help`, wrapped at `width` columns. */
export function overallHelp(commands: readonly CommandEntry[], width: number): string {
  const rows = commands.map((command) => [
    `${command.name} ${command.positionals}`.trimEnd(),
    command.summary,
  ]);
  return [
    ...wrapped(
      "gwc compiles a gateway configuration into a small, readable, specialised TypeScript proxy for MCP, LLM and HTTP traffic.",
      width,
    ),
    "",
    "Usage: gwc COMMAND [OPTIONS]",
    "",
    "Commands",
    ...table(rows, width),
    "",
    "Options",
    ...optionTable([help], width),
    "",
    "Getting started",
    "  gwc init     write gateway.yaml",
    "  gwc run      serve it and reload it when you edit",
    "  gwc build    write the proxy: read it, diff it, ship it",
    "",
    "Exit codes: 0 ok, 1 invalid input, 2 usage error, 3 bug in gwc.",
    "See `gwc COMMAND --help` for a command, `gwc explain` for the reference.",
    "",
  ].join("\n");
}

/** Renders `gwc COMMAND --help`, wrapped at `width` columns. */
export function commandHelp(
  { name, positionals, summary }: CommandEntry,
  command: Command,
  width: number,
): string {
  return [
    `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`,
    "",
    `Usage: gwc ${name} ${command.options.length === 0 ? "" : "[OPTIONS] "}${positionals}`.trimEnd(),
    "",
    ...command.details
      .split("\n")
      .flatMap((line) => (line.startsWith(" ") ? [line] : wrapped(line, width))),
    "",
    "Options",
    ...optionTable([...command.options, help], width),
    "",
    command.examples.length === 1 ? "Example" : "Examples",
    ...command.examples.map((example) => `  ${example}`),
    "",
  ].join("\n");
}

function optionTable(options: readonly Option[], width: number): string[] {
  return table(
    options.map((option) => {
      const { summary, choices } = option;
      const values = choices === undefined ? "" : `: ${choices.join(", ")}`;
      const at = summary.lastIndexOf(" (default");
      const text =
        at < 0 ? `${summary}${values}` : `${summary.slice(0, at)}${values}${summary.slice(at)}`;
      const indent = option.short === undefined ? "    " : "";
      return [`${indent}${optionUsage(option)}`, text];
    }),
    width,
  );
}

/** Aligns rows of two columns; the second one wraps. */
function table(rows: readonly (readonly string[])[], width: number): string[] {
  const first = Math.max(...rows.map(([left = ""]) => left.length)) + "    ".length;
  return rows.flatMap(([left = "", right = ""]) =>
    wrapped(right, Math.max(width - first, MIN_COLUMN)).map(
      (line, index) => `${(index === 0 ? `  ${left}` : "").padEnd(first)}${line}`,
    ),
  );
}

/** Minimum width of the second column of a table. */
const MIN_COLUMN = 30;
