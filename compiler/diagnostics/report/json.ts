import type { Location } from "../source.ts";
import { countFindings, type Finding } from "./findings.ts";
import type { ReportFacts } from "./report-facts.ts";

/** Formats findings as one JSON object. `version` is increased with incompatible changes. */
export function jsonReport(findings: readonly Finding[], { files, version }: ReportFacts): string {
  const { error, warning } = countFindings(findings);
  const value = {
    version: 1,
    gwc: version,
    files,
    errors: error,
    warnings: warning,
    diagnostics: findings.map(({ code, severity, message, hint, location, related }) => ({
      code,
      severity,
      message,
      hint,
      ...region(location),
      related: related.map((each) => ({ label: each.label, ...region(each.location) })),
    })),
  };
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

function region(location: Location): Readonly<Record<string, string | number>> {
  const { line, column, endLine, endColumn } = textRegion(location);
  return { file: location.path, line, column, endLine, endColumn };
}

/**
 * Returns the start and end of a location. All values start at 1; the end column is the one after the last character.
 */
export function textRegion({ text, line, column, start, end }: Location): {
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
} {
  const lines = text.slice(start, end).split("\n");
  const last = lines.at(-1) ?? "";
  return {
    line,
    column,
    endLine: line + lines.length - 1,
    endColumn: lines.length === 1 ? column + last.length : last.length + 1,
  };
}
