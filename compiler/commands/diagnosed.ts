import { gatewayName } from "../1-parse/gateway-name.ts";
import { type Checked, check } from "../compile.ts";
import type { Program } from "../ir.ts";
import { countFindings, findingsOf } from "../report/findings.ts";
import { textReport } from "../report/text.ts";
import type { Surroundings } from "./command.ts";

/** A checked configuration, with what to tell the user about it. */
export interface Diagnosed extends Checked {
  /** Mistakes and warnings for stderr; empty when there are none. */
  readonly talk: string;
  /** There when nothing forbids to go on. */
  readonly program: Program | undefined;
}

/** Checks files for a verb whose result is not the report itself. */
export function diagnose(
  files: readonly string[],
  isStrict: boolean,
  { host, isColored }: Pick<Surroundings, "host" | "isColored">,
): Diagnosed {
  const checked = check(files, host, { name: gatewayName(files), isStrict });
  const findings = findingsOf(checked.diagnostics, checked.files, isStrict);
  const program = countFindings(findings).error > 0 ? undefined : checked.program;
  return { ...checked, program, talk: textReport(findings, isColored.stderr) };
}
