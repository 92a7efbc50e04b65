import { optionUsage } from "./arguments.ts";
import type { Command, Option } from "./command.ts";
import type { CommandEntry } from "./commands.ts";
import { help } from "./shared-options.ts";

/** `gwc --help`. */
export function overallHelp(commands: readonly CommandEntry[]): string {
  const rows = commands.map((command) => [
    `${command.name} ${command.positionals}`.trimEnd(),
    command.summary,
  ]);
  return [
    "gwc compiles a gateway configuration into a small, readable, specialised TypeScript proxy",
    "for MCP, LLM and HTTP traffic.",
    "",
    "Usage: gwc VERB [OPTIONS]",
    "",
    "Verbs",
    ...table(rows),
    "",
    "Options",
    ...optionTable([help]),
    "",
    "A first gateway",
    "  gwc init                    writes gateway.yaml",
    "  gwc run                     serves it, and follows your edits",
    "  gwc build                   writes the proxy: read it, diff it, ship it",
    "",
    "Exit codes: 0 ok, 1 invalid input, 2 usage, 3 a bug in gwc.",
    "`gwc VERB --help` says more about a verb.",
    "",
  ].join("\n");
}

/** `gwc VERB --help`. */
export function commandHelp(
  { name, positionals, summary }: CommandEntry,
  command: Command,
): string {
  const options = [...command.options, { ...help, summary: "this text" }];
  return [
    `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`,
    "",
    `Usage: gwc ${name} ${command.options.length === 0 ? "" : "[OPTIONS] "}${positionals}`.trimEnd(),
    "",
    command.details,
    "",
    "Options",
    ...optionTable(options),
    "",
    command.examples.length === 1 ? "Example" : "Examples",
    ...command.examples.map((example) => `  ${example}`),
    "",
  ].join("\n");
}

function optionTable(options: readonly Option[]): string[] {
  return table(
    options.map((option) => {
      const { summary, choices } = option;
      const argv = choices === undefined ? "" : `: ${choices.join(", ")}`;
      const at = summary.lastIndexOf(" (default");
      const text =
        at < 0 ? `${summary}${argv}` : `${summary.slice(0, at)}${argv}${summary.slice(at)}`;
      const indent = option.short === undefined ? "    " : "";
      return [`${indent}${optionUsage(option)}`, text];
    }),
  );
}

function table(rows: readonly (readonly string[])[]): string[] {
  const width = Math.max(...rows.map(([left = ""]) => left.length));
  return rows.map(([left = "", right = ""]) => `  ${left.padEnd(width)}  ${right}`);
}
