import { version } from "../installation.ts";
import type { Arguments, Command, CommandResult } from "./command.ts";

/** `gwc version`: prints the versions of gwc and Node.js. */
export const versionCommand: Command = {
  minPositionals: 0,
  maxPositionals: 0,
  details: "`gwc --version` is the same.",
  options: [
    {
      name: "format",
      value: "FORMAT",
      choices: ["text", "json"],
      summary: "output format (default: text)",
    },
  ],
  examples: ["gwc version --format json"],
  work: showVersion,
};

async function showVersion({ options }: Arguments): Promise<CommandResult> {
  const facts = { gwc: version(), node: process.versions.node };
  const stdout = options.format === "json" ? JSON.stringify(facts) : `gwc ${facts.gwc}`;
  return { exitCode: 0, stdout: `${stdout}\n` };
}
