import type { Host } from "../host.ts";
import { type AuditBaseline, readBaseline } from "../inspect/audit/baseline.ts";
import type { CommandResult } from "./command.ts";

/** Default file of accepted findings. */
export const BASELINE = ".gwc-audit.yaml";

/** Reads the accepted findings; an empty list if the default file is missing, or a usage error. */
export function baselineFrom(named: string | undefined, host: Host): AuditBaseline | CommandResult {
  const read = host.readText(named ?? BASELINE);
  if (read.kind === "problem") {
    if (named === undefined) return { accepted: [] };
    return { exitCode: 2, stderr: `error: "${named}" can't be read: ${read.problem}\n` };
  }
  const hint = "hint: `gwc audit --write-baseline` prints one\n";
  return (
    readBaseline(read.text) ?? {
      exitCode: 2,
      stderr: `error: "${named ?? BASELINE}" is not a baseline: it needs accepted: [{code, message, reason}]\n${hint}`,
    }
  );
}
