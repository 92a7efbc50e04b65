import type { CommandContext } from "./commands/command.ts";
import { perform } from "./commands/perform.ts";
import { bugReport } from "./diagnostics/report/bug.ts";
import { takesColors } from "./diagnostics/report/colors.ts";
import { realHost } from "./host.ts";

/** Width of output that is not a terminal, in columns. */
const DEFAULT_COLUMNS = 80;
/** Longer lines of prose are hard to read. */
const MAX_COLUMNS = 100;

// A reader that closes the pipe early (`| head`) is not a failure.
for (const stream of [process.stdout, process.stderr])
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });

const progress = progressLine();
try {
  const result = await perform(process.argv.slice(2), commandContext(progress.show)).finally(
    progress.erase,
  );
  if (result.stderr !== undefined) process.stderr.write(result.stderr);
  if (result.stdout !== undefined) process.stdout.write(result.stdout);
  process.exitCode = result.exitCode;
} catch (error) {
  process.stderr.write(bugReport(error, process.env.GWC_DEBUG === "1"));
  process.exitCode = 3;
}

function commandContext(progress: CommandContext["progress"]): CommandContext {
  return {
    host: realHost(process.env),
    isColored: {
      stdout: takesColors(process.stdout.isTTY, process.env),
      stderr: takesColors(process.stderr.isTTY, process.env),
    },
    isTerminal: { stdout: process.stdout.isTTY, stderr: process.stderr.isTTY },
    columns: Math.min(process.stdout.columns ?? DEFAULT_COLUMNS, MAX_COLUMNS),
    progress,
    print: (text) => process.stderr.write(text),
  };
}

/** A line on the terminal that shows the current step; erased at the end. */
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
