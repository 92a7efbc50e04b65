import { DEFAULT_FILES } from "../1-parse/input-files.ts";
import type { Host } from "../host.ts";
import type { CommandResult } from "./command.ts";

/** Input files of a command: the given ones, else the default file of the working directory. */
export type CommandInput =
  | { readonly kind: "files"; readonly files: readonly string[] }
  | { readonly kind: "none"; readonly result: CommandResult };

/** Returns the input files, or an error with a hint if none are given and there is no default file. */
export function commandInput(
  given: readonly string[],
  { readText }: Host,
  /** Usage of the command with a file, for the hint: `gwc build FILE`. */
  usage: string,
): CommandInput {
  if (given.length > 0) return { kind: "files", files: given };
  const found = DEFAULT_FILES.find((name) => readText(name).kind === "text");
  if (found !== undefined) return { kind: "files", files: [found] };
  const stderr =
    `error: there is no ${DEFAULT_FILES[0]} in this folder\n` +
    `hint: create one with \`gwc init\`, or name a file: \`${usage}\`\n`;
  return { kind: "none", result: { exitCode: 2, stderr } };
}
