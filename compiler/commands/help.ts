import { spelling } from "./arguments.ts";
import type { Option, Verb } from "./command.ts";
import { help, verbs } from "./commands.ts";

/** `gwc --help`. */
export function overallHelp(): string {
  const rows = verbs.map((verb) => [
    `${verb.name} ${required(verb)}${verb.operands}`.trimEnd(),
    verb.summary,
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
    "  gwc run -f gateway.yaml     serves it, and follows your edits",
    "  gwc build gateway.yaml      writes the proxy: read it, diff it, ship it",
    "",
    "Exit codes: 0 ok, 1 invalid input, 2 usage, 3 a bug in gwc.",
    "`gwc VERB --help` says more about a verb.",
    "",
  ].join("\n");
}

/** `gwc VERB --help`. */
export function verbHelp(verb: Verb): string {
  const options = [...verb.options, { ...help, summary: "this text" }];
  return [
    `${verb.summary.charAt(0).toUpperCase()}${verb.summary.slice(1)}.`,
    "",
    `Usage: gwc ${verb.name} ${usageOptions(verb)}${verb.operands}`.trimEnd(),
    "",
    verb.details,
    "",
    "Options",
    ...optionTable(options),
    "",
    verb.examples.length === 1 ? "Example" : "Examples",
    ...verb.examples.map((example) => `  ${example}`),
    "",
  ].join("\n");
}

function usageOptions(verb: Verb): string {
  const isAll = verb.options.every((option) => option.isRequired);
  return required(verb) + (isAll ? "" : "[OPTIONS] ");
}

/** `-f FILE ` */
function required({ options }: Verb): string {
  return options
    .filter((option) => option.isRequired)
    .map(({ short, name, value }) => `${short === undefined ? `--${name}` : `-${short}`} ${value} `)
    .join("");
}

function optionTable(options: readonly Option[]): string[] {
  return table(
    options.map((option) => {
      const { summary, choices } = option;
      const words = choices === undefined ? "" : `: ${choices.join(", ")}`;
      const at = summary.lastIndexOf(" (default");
      const text =
        at < 0 ? `${summary}${words}` : `${summary.slice(0, at)}${words}${summary.slice(at)}`;
      const indent = option.short === undefined ? "    " : "";
      return [`${indent}${spelling(option)}`, text];
    }),
  );
}

function table(rows: readonly (readonly string[])[]): string[] {
  const width = Math.max(...rows.map(([left = ""]) => left.length));
  return rows.map(([left = "", right = ""]) => `  ${left.padEnd(width)}  ${right}`);
}
