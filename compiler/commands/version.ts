import { version } from "../version.ts";
import type { Arguments, CommandResult } from "./command.ts";

/** `gwc version`: of gwc, and of what runs it. */
export async function showVersion({ options }: Arguments): Promise<CommandResult> {
  const facts = { gwc: version(), node: process.versions.node };
  const stdout = options.format === "json" ? JSON.stringify(facts) : `gwc ${facts.gwc}`;
  return { exitCode: 0, stdout: `${stdout}\n` };
}
