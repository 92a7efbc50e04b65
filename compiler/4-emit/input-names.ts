import type { Program } from "../ir/program.ts";

/** Input files that are named one by one. */
const NAMED = 6;

/** `gateway.yaml`: what the head of a generated file says that it comes from. */
export function inputNames({ inputs }: Program): string {
  const names = inputs.map(({ name }) => name);
  if (names.length <= NAMED) return names.join(", ");
  return `${names.slice(0, NAMED - 1).join(", ")} and ${names.length - NAMED + 1} more files`;
}
