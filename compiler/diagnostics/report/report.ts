import type { Finding } from "./findings.ts";
import type { ReportFacts } from "./report-facts.ts";
import { textReport } from "./text.ts";

/** Format of a report. */
export type ReportFormat = "text" | "json" | "sarif" | "github" | "junit";

/** Formats findings; machine-readable formats are loaded on demand. */
export async function report(
  format: ReportFormat,
  findings: readonly Finding[],
  facts: ReportFacts,
): Promise<string> {
  switch (format) {
    case "text":
      return textReport(findings, facts.isColored);
    case "json":
      return (await import("./json.ts")).jsonReport(findings, facts);
    case "sarif":
      return (await import("./sarif.ts")).sarifReport(findings, facts);
    case "github":
      return (await import("./github.ts")).githubReport(findings);
    case "junit":
      return (await import("./junit.ts")).junitReport(findings, facts);
  }
}
