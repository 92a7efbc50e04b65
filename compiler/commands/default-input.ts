import type { Host } from "../host.ts";
import type { CommandResult } from "./command.ts";

/** The files that are meant when none is given, the first one that is there. */
const NAMES = ["gateway.yaml", "gateway.yml", "gateway.json"];

/** What a command works on: the given files, else the gateway of this folder. */
export type CommandInput =
  | { readonly kind: "files"; readonly files: readonly string[] }
  | { readonly kind: "none"; readonly result: CommandResult };

/** The input of `build`, `check` and `run`; without any, the result that says what to do. */
export function commandInput(
  given: readonly string[],
  { readText }: Host,
  /** How the command is called with a file: `gwc build FILE`. */
  usage: string,
): CommandInput {
  if (given.length > 0) return { kind: "files", files: given };
  const found = NAMES.find((name) => readText(name).kind === "text");
  if (found !== undefined) return { kind: "files", files: [found] };
  const stderr =
    `error: there is no ${NAMES[0]} in this folder\n` +
    `hint: \`gwc init\` writes a first one; \`${usage}\` takes another file\n`;
  return { kind: "none", result: { exitCode: 2, stderr } };
}
