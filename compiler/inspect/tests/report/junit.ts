import { findingsOf } from "../../../diagnostics/report/findings.ts";
import { attribute, content } from "../../../diagnostics/report/junit.ts";
import { textReport } from "../../../diagnostics/report/text.ts";
import { locate } from "../../../diagnostics/source.ts";
import type { TestRun, TestVerdict } from "../run-tests.ts";

/** Renders a test run as JUnit XML: a suite for each file, a case for each test; an invalid file is a failed case. */
export function junitTests({ verdicts, mistakes, files }: TestRun): string {
  const byFile = Map.groupBy(verdicts, ({ origin }) => origin.file);
  const failed = verdicts.filter(({ diagnostics }) => diagnostics.length > 0);
  const broken = findingsOf(mistakes, files, false);
  const suites = Array.from(byFile, ([file, own]) => {
    const failures = own.filter(({ diagnostics }) => diagnostics.length > 0).length;
    return [
      `  <testsuite name="${attribute(file)}" tests="${own.length}" failures="${failures}">`,
      ...own.flatMap((each) => testCase(each, files)),
      "  </testsuite>",
    ];
  });
  const mistaken = broken.map(({ location, message }) => {
    const name = attribute(location.path);
    return [
      `  <testsuite name="${name}" tests="1" failures="1">`,
      `    <testcase classname="${name}" name="line ${location.line}"><failure message="${attribute(message)}"/></testcase>`,
      "  </testsuite>",
    ];
  });
  const tests = verdicts.length + broken.length;
  const failures = failed.length + broken.length;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="gwc test" tests="${tests}" failures="${failures}">`,
    ...suites.flat(),
    ...mistaken.flat(),
    "</testsuites>",
    "",
  ].join("\n");
}

function testCase(
  { name, origin, diagnostics }: TestVerdict,
  files: TestRun["files"],
): readonly string[] {
  const { line } = locate(origin, files);
  const head = `    <testcase classname="${attribute(origin.file)}" name="${attribute(name)}" line="${line}"`;
  const findings = findingsOf(diagnostics, files, false);
  const [first] = findings;
  if (first === undefined) return [`${head}/>`];
  const text = content(textReport(findings, false));
  return [
    `${head}>`,
    `      <failure type="${first.code}" message="${attribute(first.message)}">${text}</failure>`,
    "    </testcase>",
  ];
}
