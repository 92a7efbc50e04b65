import { suggest } from "../diagnostics/suggestion.ts";
import { readArguments } from "./arguments.ts";
import type { CommandContext, CommandResult } from "./command.ts";
import { type CommandEntry, commands } from "./commands.ts";
import { commandHelp, overallHelp } from "./help.ts";

/** Does what a command line says: the words after `gwc`. */
export async function perform(
  argv: readonly string[],
  context: CommandContext,
): Promise<CommandResult> {
  const [first, ...rest] = argv;
  if (first === undefined) return { exitCode: 2, stderr: overallHelp(commands) };
  if (first === "--help" || first === "-h" || first === "help") return helpFor(rest[0]);
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
      return { exitCode: 0, stdout: commandHelp(entry, command) };
    case "usage":
      return usage(read.problem, read.hint, `gwc ${entry.name} --help`);
    case "arguments":
      return command.work(read.values, context);
  }
}

async function helpFor(name: string | undefined): Promise<CommandResult> {
  if (name === undefined) return { exitCode: 0, stdout: overallHelp(commands) };
  const command = commands.find((each) => each.name === name);
  return command === undefined
    ? unknownCommand(name)
    : { exitCode: 0, stdout: commandHelp(command, await command.load()) };
}

function unknownCommand(word: string): CommandResult {
  const kind = word.startsWith("-") ? "option" : "verb";
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
  return usage(`there is no ${kind} "${word}"`, hint, "gwc --help");
}

function usage(problem: string, hint: string | undefined, more: string): CommandResult {
  const lines = [`error: ${problem}`, `hint: ${hint ?? `\`${more}\` says what there is`}`];
  return { exitCode: 2, stderr: `${lines.join("\n")}\n` };
}
