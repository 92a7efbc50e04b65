import type { MountedFile, Text } from "../../../compiler/model/texts.ts";
import type { KeyHeader } from "../../../runtime/llm/providers/provider.ts";
import { code, literal } from "../../code/code.ts";
import type { Printable } from "../../code/hole.ts";
import { imported } from "../../code/names.ts";
import { call } from "../../code/syntax.ts";
import { mountedFile } from "../parts/connection.ts";

/** Writes an API key that is sent in a header of its own. */
export function keyCode({
  header,
  value,
}: {
  readonly header: KeyHeader;
  readonly value: Text | MountedFile;
}): Printable {
  const module = "gwc/runtime/llm/providers/key-header";
  if (typeof value === "string" || value.kind === "env") {
    const args = [literal(keyHeaderCode(header)), literal(value)];
    return code`${call(imported(module, "keyHeader"), args)}`;
  }
  const args = [literal(keyHeaderCode(header)), mountedFile(value)];
  return code`${call(imported(module, "keyHeaderFile"), args)}`;
}

/** Writes the header, or the headers of several paths. */
export function keyHeaderCode(header: KeyHeader): Printable {
  return typeof header === "string" ? header : { ...header };
}
