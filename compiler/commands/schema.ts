import { editorSchema } from "../1-parse/schemas/editor.ts";
import type { CommandResult } from "./command.ts";

/** `gwc schema`: the schema of the standalone file, for editors. */
export async function schema(): Promise<CommandResult> {
  return { exitCode: 0, stdout: editorSchemaText() };
}

/** The text of a schema file. */
export function editorSchemaText(): string {
  return `${JSON.stringify(editorSchema(), undefined, 2)}\n`;
}
