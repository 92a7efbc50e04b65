import type { Diagnostic } from "../diagnostic.ts";
import { isError } from "../diagnostic.ts";
import { type MessageCode, messageOf } from "../messages/index.ts";
import type { Severity } from "../messages/message.ts";
import { nameList } from "../name-list.ts";
import { type Location, locate, type SourceFile } from "../source.ts";
import { printable } from "./display-width.ts";

/** A diagnostic with its strings and locations, which every format prints. */
export interface Finding {
  readonly code: MessageCode;
  readonly severity: Severity;
  readonly message: string;
  readonly hint: string | undefined;
  readonly location: Location;
  readonly related: readonly RelatedLocation[];
}

/** A second place of a finding. */
export interface RelatedLocation {
  readonly label: string;
  readonly location: Location;
}

/** Returns the exit code for mistakes: 3 if one of them is a bug of gwc, otherwise 1. */
export function failureCode(findings: readonly Finding[]): 1 | 3 {
  return findings.some(({ code }) => code === "internal-error") ? 3 : 1;
}

/** Returns the diagnostics of a run by their order in the files, without duplicates. */
export function findingsOf(
  diagnostics: readonly Diagnostic[],
  files: readonly SourceFile[],
  isStrict: boolean,
): readonly Finding[] {
  const findings = diagnostics.map((diagnostic) => finding(diagnostic, files, isStrict));
  const fileOrder = new Map(files.map((file, index) => [file.path, index]));
  const rank = ({ location }: Finding): number => fileOrder.get(location.path) ?? -1;
  const seen = new Set<string>();
  return findings
    .sort((a, b) => rank(a) - rank(b) || a.location.start - b.location.start)
    .filter(({ code, message, location }) => {
      const key = JSON.stringify([code, message, location.path, location.start]);
      return !seen.has(key) && seen.add(key);
    });
}

/** Counts the findings of each severity. */
export function countFindings(findings: readonly Finding[]): Readonly<Record<Severity, number>> {
  const counts = { error: 0, warning: 0, note: 0 };
  for (const { severity } of findings) counts[severity] += 1;
  return counts;
}

/** Formats the counts: `2 errors and 1 warning`, `1 error, 2 warnings and 1 note`. */
export function totals(findings: readonly Finding[]): string {
  const counts = countFindings(findings);
  const parts = (["error", "warning", "note"] as const)
    .filter((severity) => counts[severity] > 0)
    .map((severity) => `${counts[severity]} ${severity}${counts[severity] === 1 ? "" : "s"}`);
  return parts.length === 0 ? "no mistakes" : nameList(parts, "and");
}

function finding(diagnostic: Diagnostic, files: readonly SourceFile[], isStrict: boolean): Finding {
  const { code, at, related = [] } = diagnostic;
  const { severity, text, hint } = messageOf(code);
  // `Diagnostics.report` has checked that the parameters belong to the code.
  const params = diagnostic.params as never;
  const advice = hint?.(params);
  return {
    code,
    severity: severity === "warning" && isError(diagnostic, isStrict) ? "error" : severity,
    message: printable(text(params)),
    hint: advice === undefined ? undefined : printable(advice),
    location: locate(at, files),
    related: related.map((each) => ({ label: each.label, location: locate(each.at, files) })),
  };
}
