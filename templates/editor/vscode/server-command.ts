import { existsSync } from "node:fs";
import path from "node:path";

/** A program and its arguments. */
export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * Returns the command that starts gwc: the configured one, else the gwc that is installed in the workspace, else the one
 * in PATH.
 */
export function gwcCommand(
  configured: readonly string[],
  folders: readonly string[],
): ServerCommand {
  const [command, ...args] = configured;
  if (command !== undefined) return { command, args };
  const own = folders
    .map((folder) => path.join(folder, "node_modules", "gwc", "compiler", "gwc.mjs"))
    .find((file) => existsSync(file));
  return own === undefined ? { command: "gwc", args: [] } : { command: "node", args: [own] };
}
