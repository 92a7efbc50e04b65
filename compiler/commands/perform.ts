import { fitTerminal } from "../diagnostics/report/fit-terminal.ts";
import { terminalText } from "../diagnostics/report/terminal-text.ts";
import { suggest } from "../diagnostics/suggestion.ts";
import { wrapped } from "../inspect/reference/terminal.ts";
import { optionUsage, readArguments } from "./arguments.ts";
import type {
  Arguments,
  Command,
  CommandContext,
  CommandEntry,
  CommandResult,
  Option,
} from "./command.ts";
import { commands } from "./commands.ts";
import { commonOptions } from "./shared-options.ts";

/** Runs a command line, given as the arguments after `gwc`. */
export async function perform(
  argv: readonly string[],
  context: CommandContext,
): Promise<CommandResult> {
  const [first, ...rest] = argv;
  if (first === undefined) return { exitCode: 2, stderr: overallHelp(commands, context.columns) };
  if (first === "--help" || first === "-h" || first === "help") return helpFor(rest[0], context);
  const name = first === "--version" ? "version" : first;
  const command = commands.find((each) => each.name === name);
  if (command !== undefined) return work(command, rest, context);
  // The short form of `run`.
  const run = commands.find((each) => each.name === "run");
  if (run !== undefined && /^(-f|--file(=|$))/.test(first)) return work(run, argv, context);
  return unknownCommand(first);
}

async function work(
  entry: CommandEntry,
  argv: readonly string[],
  context: CommandContext,
): Promise<CommandResult> {
  const command = await entry.load();
  const read = readArguments(entry, command, argv);
  switch (read.kind) {
    case "help":
      return { exitCode: 0, stdout: commandHelp(entry, command, context.columns) };
    case "usage":
      return usage(read.problem, read.hint, `gwc ${entry.name} --help`);
    case "arguments": {
      const colored = withColors(read.values.options.color, context);
      const result = printable(await command.work(read.values, printing(colored)), entry, colored);
      return fitted(result, entry, read.values, context);
    }
  }
}

/** Applies `--color`, which overrides the environment. */
function withColors(when: string | undefined, context: CommandContext): CommandContext {
  if (when === undefined || when === "auto") return context;
  const isColored = when === "always";
  return { ...context, isColored: { stdout: isColored, stderr: isColored } };
}

/** Wraps a context so that lines printed while working are escaped for terminals. */
function printing(context: CommandContext): CommandContext {
  const { stderr } = context.isColored;
  return { ...context, print: (text) => context.print(terminalText(text, stderr)) };
}

/** Escapes control characters in a result, so that quoted input cannot hide text or control the terminal. */
function printable(
  { stdout, stderr, ...result }: CommandResult,
  { printsFiles }: CommandEntry,
  { isColored }: CommandContext,
): CommandResult {
  const isShown = stdout !== undefined && printsFiles !== true;
  return {
    ...result,
    ...(stdout !== undefined && {
      stdout: isShown ? terminalText(stdout, isColored.stdout) : stdout,
    }),
    ...(stderr !== undefined && { stderr: terminalText(stderr, isColored.stderr) }),
  };
}

/** Breaks the lines of a result at the width of the terminal: those of stderr, and of stdout if it is prose. */
function fitted(
  { stdout, stderr, ...result }: CommandResult,
  { isProse }: CommandEntry,
  { options }: Arguments,
  { isTerminal, columns }: CommandContext,
): CommandResult {
  const isText = isProse === true && (options.format ?? "text") === "text";
  const linesOf = (text: string, isFitted: boolean) =>
    isFitted ? fitTerminal(text, columns) : text;
  return {
    ...result,
    ...(stdout !== undefined && { stdout: linesOf(stdout, isText && isTerminal.stdout) }),
    ...(stderr !== undefined && { stderr: linesOf(stderr, isTerminal.stderr) }),
  };
}

async function helpFor(
  name: string | undefined,
  { columns }: CommandContext,
): Promise<CommandResult> {
  if (name === undefined) return { exitCode: 0, stdout: overallHelp(commands, columns) };
  const command = commands.find((each) => each.name === name);
  return command === undefined
    ? unknownCommand(name)
    : { exitCode: 0, stdout: commandHelp(command, await command.load(), columns) };
}

function unknownCommand(word: string): CommandResult {
  const kind = word.startsWith("-") ? "option" : "command";
  const near = suggest(
    word,
    commands.map((command) => command.name),
  );
  const hint =
    near !== undefined
      ? `did you mean \`gwc ${near}\`?`
      : /\.(ya?ml|json)$/.test(word)
        ? `did you mean \`gwc run -f ${word}\`?`
        : undefined;
  return usage(`unknown ${kind} "${word}"`, hint, "gwc --help");
}

function usage(problem: string, hint: string | undefined, more: string): CommandResult {
  const lines = [`error: ${problem}`, `hint: ${hint ?? `see \`${more}\``}`];
  return { exitCode: 2, stderr: `${lines.join("\n")}\n` };
}

/** Renders `gwc --help`, wrapped at `width` columns. */
function overallHelp(commands: readonly CommandEntry[], width: number): string {
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
    ...optionTable(commonOptions, width),
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
function commandHelp(
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
    ...optionTable([...command.options, ...commonOptions], width),
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
