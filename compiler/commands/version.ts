import { readFileSync } from "node:fs";
import path from "node:path";
import type { Arguments, CommandResult } from "./command.ts";

/** The version of this gwc, as its package says. */
export function version(): string {
  const file = path.resolve(import.meta.dirname, "..", "..", "package.json");
  const data: unknown = JSON.parse(readFileSync(file, "utf8"));
  return typeof data === "object" && data !== null && "version" in data
    ? String(data.version)
    : "unknown";
}

/** `gwc version`: of gwc, and of what runs it. */
export async function showVersion({ options }: Arguments): Promise<CommandResult> {
  const facts = { gwc: version(), node: process.versions.node };
  const stdout = options.format === "json" ? JSON.stringify(facts) : `gwc ${facts.gwc}`;
  return { exitCode: 0, stdout: `${stdout}\n` };
}
