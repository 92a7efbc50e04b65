import { bugText } from "../process/bug-text.ts";

/** Writes a bug to stderr with its stack; clients never see it. */
export function reportBug(where: string, error: unknown): void {
  process.stderr.write(`${where}: ${bugText(error)}\n`);
}
