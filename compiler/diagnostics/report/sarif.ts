import { type MessageCode, messageOf } from "../messages/index.ts";
import type { Severity } from "../messages/message.ts";
import type { Location } from "../source.ts";
import type { Finding } from "./findings.ts";
import { textRegion } from "./json.ts";
import type { ReportFacts } from "./report-facts.ts";

const SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json";

/** Formats findings as a SARIF 2.1.0 log (OASIS) for code scanners. */
export function sarifReport(findings: readonly Finding[], { version }: ReportFacts): string {
  const codes = [...new Set(findings.map(({ code }) => code))].sort();
  const driver = { name: "gwc", semanticVersion: version, rules: codes.map(rule) };
  return sarifLog(
    driver,
    findings.map((finding) => result(finding, codes)),
  );
}

/** Returns a SARIF log of one run: the tool with its rules, and its results. */
export function sarifLog(driver: object, results: readonly object[]): string {
  const log = {
    $schema: SCHEMA,
    version: "2.1.0",
    runs: [{ tool: { driver }, columnKind: "utf16CodeUnits", results }],
  };
  return `${JSON.stringify(log, undefined, 2)}\n`;
}

function rule(code: MessageCode): object {
  const { severity, explanation } = messageOf(code);
  return {
    id: code,
    shortDescription: { text: code.replaceAll("-", " ") },
    fullDescription: { text: explanation },
    help: { text: `${explanation}\n\nSee also \`gwc explain ${code}\`.` },
    defaultConfiguration: { level: severity satisfies SarifLevel },
  };
}

type SarifLevel = Severity;

function result(finding: Finding, codes: readonly MessageCode[]): object {
  const { code, severity, message, hint, location, related } = finding;
  return {
    ruleId: code,
    ruleIndex: codes.indexOf(code),
    level: severity satisfies SarifLevel,
    message: { text: hint === undefined ? message : `${message}\nhint: ${hint}` },
    locations: [{ physicalLocation: physicalLocation(location) }],
    ...(related.length === 0
      ? {}
      : {
          relatedLocations: related.map((each, id) => ({
            id,
            message: { text: each.label },
            physicalLocation: physicalLocation(each.location),
          })),
        }),
  };
}

/** Returns a location in SARIF format. */
export function physicalLocation(location: Location): object {
  const { line, column, endLine, endColumn } = textRegion(location);
  return {
    artifactLocation: { uri: uri(location.path) },
    region: { startLine: line, startColumn: column, endLine, endColumn },
  };
}

/** Returns a relative path as a URI reference (RFC 3986), an absolute one as a file URI. */
function uri(path: string): string {
  const steps = path.replaceAll("\\", "/").split("/").map(encodeURIComponent).join("/");
  return path.startsWith("/") ? `file://${steps}` : steps.replace(/^\.\//, "");
}
