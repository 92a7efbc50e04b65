import { bugText } from "../process/bug-text.ts";
import { writeError } from "../process/operator-errors.ts";

/** Writes a bug to stderr with its stack; clients never see it. */
export function reportBug(where: string, error: unknown): void {
  writeError(`${where}: ${bugText(error)}`, { kind: "bug" });
}
