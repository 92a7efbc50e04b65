import type { Program } from "../ir/program.ts";

/** Maximum number of input files that a header names. */
const NAMED = 6;

/** Returns the names of the input files for the headers of generated files: `gateway.yaml`. */
export function inputNames({ inputs }: Program): string {
  const names = inputs.map(({ name }) => name);
  if (names.length <= NAMED) return names.join(", ");
  return `${names.slice(0, NAMED - 1).join(", ")} and ${names.length - NAMED + 1} more files`;
}
