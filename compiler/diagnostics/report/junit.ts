import { countFindings, type Finding } from "./findings.ts";
import type { ReportFacts } from "./report-facts.ts";
import { textReport } from "./text.ts";

/** Formats findings as JUnit XML: a suite for each file, a failed case for each mistake. Warnings pass, with a note. */
export function junitReport(findings: readonly Finding[], { files }: ReportFacts): string {
  const { error } = countFindings(findings);
  const names = [...new Set([...files, ...findings.map(({ location }) => location.path)])];
  const suites = names.map((file) => ({
    file,
    found: findings.filter(({ location }) => location.path === file),
  }));
  const tests = suites.reduce((sum, { found }) => sum + Math.max(1, found.length), 0);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="gwc check" tests="${tests}" failures="${error}">`,
    ...suites.flatMap(({ file, found }) => suite(file, found)),
    "</testsuites>",
    "",
  ].join("\n");
}

function suite(file: string, found: readonly Finding[]): string[] {
  const failures = countFindings(found).error;
  const name = attribute(file);
  const cases =
    found.length === 0
      ? [`    <testcase classname="${name}" name="no mistakes"/>`]
      : found.flatMap((finding) => testCase(name, finding));
  return [
    `  <testsuite name="${name}" tests="${cases.length === 1 ? 1 : found.length}" failures="${failures}">`,
    ...cases,
    "  </testsuite>",
  ];
}

function testCase(classname: string, finding: Finding): string[] {
  const { code, severity, message, location } = finding;
  const name = attribute(`${code} at ${location.line}:${location.column}`);
  // The totals are for a whole report.
  const details = content(textReport([finding], false).replace(/\n\n[^\n]*\n$/, "\n"));
  const inside =
    severity === "error"
      ? `<failure type="${code}" message="${attribute(message)}">${details}</failure>`
      : `<system-out>${details}</system-out>`;
  return [
    `    <testcase classname="${classname}" name="${name}" line="${location.line}">`,
    `      ${inside}`,
    "    </testcase>",
  ];
}

/** Escapes a string for the content of an element. */
export function content(text: string): string {
  return valid(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Escapes a string for a quoted attribute. */
export function attribute(text: string): string {
  return content(text).replaceAll('"', "&quot;").replaceAll("\n", "&#10;").replaceAll("\t", "&#9;");
}

/** Removes characters that XML 1.0 cannot represent: control characters, lone surrogates, U+FFFE and U+FFFF. */
function valid(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd");
}
