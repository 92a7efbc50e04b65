import { readArguments } from "./commands/arguments.ts";
import type { CommandContext, CommandResult } from "./commands/command.ts";
import { type CommandEntry, commands } from "./commands/commands.ts";
import { commandHelp, overallHelp } from "./commands/help.ts";
import { bugReport } from "./diagnostics/report/bug.ts";
import { takesColors } from "./diagnostics/report/colors.ts";
import { suggest } from "./diagnostics/suggestion.ts";
import { realHost } from "./host.ts";

// A reader that has seen enough (`| head`) is no failure.
for (const stream of [process.stdout, process.stderr])
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });

try {
  const result = await main(process.argv.slice(2));
  if (result.stderr !== undefined) process.stderr.write(result.stderr);
  if (result.stdout !== undefined) process.stdout.write(result.stdout);
  process.exitCode = result.exitCode;
} catch (error) {
  process.stderr.write(bugReport(error, process.env.GWC_DEBUG === "1"));
  process.exitCode = 3;
}

async function main(argv: readonly string[]): Promise<CommandResult> {
  const [first, ...rest] = argv;
  if (first === undefined) return { exitCode: 2, stderr: overallHelp(commands) };
  if (first === "--help" || first === "-h" || first === "help") return helpFor(rest[0]);
  const name = first === "--version" ? "version" : first;
  const command = commands.find((each) => each.name === name);
  if (command !== undefined) return perform(command, rest);
  // The short form of `run`.
  const run = commands.find((each) => each.name === "run");
  if (run !== undefined && /^(-f|--file(=|$))/.test(first)) return perform(run, argv);
  return unknownCommand(first);
}

async function perform(entry: CommandEntry, argv: readonly string[]): Promise<CommandResult> {
  const command = await entry.load();
  const read = readArguments(entry.name, command, argv);
  switch (read.kind) {
    case "help":
      return { exitCode: 0, stdout: commandHelp(entry, command) };
    case "usage":
      return usage(read.problem, read.hint, `gwc ${entry.name} --help`);
    case "arguments": {
      const progress = progressLine();
      try {
        return await command.work(read.values, commandContext(progress.show));
      } finally {
        progress.erase();
      }
    }
  }
}

function commandContext(progress: CommandContext["progress"]): CommandContext {
  return {
    host: realHost(process.env),
    isColored: {
      stdout: takesColors(process.stdout.isTTY, process.env),
      stderr: takesColors(process.stderr.isTTY, process.env),
    },
    progress,
    print: (text) => process.stderr.write(text),
  };
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

/** A line on the terminal that says what is being done; erased at the end. */
function progressLine(): { readonly show: (step: string) => void; readonly erase: () => void } {
  const erase = () => process.stderr.write("\r\u001b[K");
  if (!process.stderr.isTTY) return { show: () => {}, erase: () => {} };
  return {
    show: (step) => {
      erase();
      process.stderr.write(`${step} ...`);
    },
    erase,
  };
}
