import { version } from "../installation.ts";
import type { Arguments, Command, CommandContext, CommandResult } from "./command.ts";

/** `gwc lsp`: serves an editor by the Language Server Protocol. */
export const lsp: Command = {
  minPositionals: 0,
  maxPositionals: 0,
  details:
    "An editor starts this command and talks to it on standard input and output. `gwc explain guide editors` has the settings of editors.\n" +
    "It reports what `gwc check` reports, while you type, for standalone files, manifests and test files.",
  options: [{ name: "stdio", summary: "use standard input and output, as always" }],
  examples: ["gwc lsp --stdio"],
  work: serve,
};

async function serve(_: Arguments, { host }: CommandContext): Promise<CommandResult> {
  const { serveEditor } = await import("../editor/serve-editor.ts");
  await serveEditor({ input: process.stdin, output: process.stdout }, host, version());
  return { exitCode: 0 };
}
