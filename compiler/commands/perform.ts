import { terminalText } from "../diagnostics/report/terminal-text.ts";
import { suggest } from "../diagnostics/suggestion.ts";
import { readArguments } from "./arguments.ts";
import type { CommandContext, CommandResult } from "./command.ts";
import { type CommandEntry, commands } from "./commands.ts";
import { commandHelp, overallHelp } from "./help.ts";

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
  const read = readArguments(entry.name, command, argv);
  switch (read.kind) {
    case "help":
      return { exitCode: 0, stdout: commandHelp(entry, command, context.columns) };
    case "usage":
      return usage(read.problem, read.hint, `gwc ${entry.name} --help`);
    case "arguments":
      return printable(await command.work(read.values, printing(context)), entry, context);
  }
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
