import { findingsOf } from "../diagnostics/report/findings.ts";
import { type ReportFormat, report } from "../diagnostics/report/report.ts";
import { textReport } from "../diagnostics/report/text.ts";
import { checkInput } from "../inspect/check-input.ts";
import { coverageText } from "../inspect/tests/report/coverage-text.ts";
import { runTests, type TestRun } from "../inspect/tests/run-tests.ts";
import { testFilesOf } from "../inspect/tests/test-files.ts";
import { version } from "../installation.ts";
import { isStartupError } from "../model/startup-error.ts";
import { oneOf } from "./arguments.ts";
import type { Arguments, Command, CommandContext, CommandResult } from "./command.ts";
import { commandInput } from "./default-input.ts";
import { gateway } from "./shared-options.ts";

const FORMATS: readonly ReportFormat[] = ["text", "json", "sarif", "github", "junit"];

/** `gwc test`: runs the test files of a configuration. */
export const testCommand: Command = {
  minPositionals: 0,
  maxPositionals: Number.POSITIVE_INFINITY,
  details:
    "FILES are test files (default: *.test.yaml next to the configuration). Each test is a request, an " +
    "MCP call or list, or a prompt for a model, with its expected outcome. Tests run on the code of `gwc build` in this " +
    "process: no port is opened, no server is called and no secret is needed. A test names its sender by token claims, API key metadata or a user name; " +
    "these credentials count as valid.\n" +
    "`gwc explain test` documents the format; `gwc schema --tests` prints its JSON schema.\n" +
    "Exit code: 0 all tests pass, 1 a test fails (or the configuration or a test is invalid).",
  options: [
    {
      name: "file",
      short: "f",
      value: "PATH",
      summary: "the configuration file or folder (default: gateway.yaml)",
    },
    {
      name: "format",
      value: "FORMAT",
      choices: ["text", "json", "sarif", "github", "junit"],
      summary: "output format for failures (default: text)",
    },
    { name: "coverage", summary: "list the rules, policies and routes that no test covers" },
    gateway,
  ],
  examples: [
    "gwc test",
    "gwc test -f gateway.yaml access.test.yaml --coverage",
    "gwc test -f manifests/ --format junit > tests.xml",
  ],
  work: testFiles,
};

async function testFiles(
  { positionals, options, flags }: Arguments,
  { host, isColored }: CommandContext,
): Promise<CommandResult> {
  const given = options.file === undefined ? [] : [options.file];
  const input = commandInput(given, host, "gwc test -f FILE");
  if (input.kind === "none") return input.result;
  const [config = "."] = input.files;
  const paths = positionals.length > 0 ? positionals : testFilesOf(config, host);
  if (paths.length === 0) return noTests(config);
  const checked = checkInput(input.files, host, false, options.gateway);
  if (checked.programs.length === 0)
    return { exitCode: 1, stderr: textReport(checked.findings, isColored.stderr) };
  const run = await runTests(paths, checked, host).catch((error: unknown) => {
    if (isStartupError(error)) return error;
    throw error;
  });
  if (run instanceof Error)
    return { exitCode: 1, stderr: `error: the gateway would not start: ${run.message}\n` };
  const failed = run.verdicts.filter(({ diagnostics }) => diagnostics.length > 0);
  const diagnostics = [...run.mistakes, ...failed.flatMap((each) => each.diagnostics)];
  const findings = findingsOf(diagnostics, run.files, false);
  const defaults = host.variable("GITHUB_ACTIONS") === "true" ? "github" : "text";
  const format = oneOf(FORMATS, options.format, defaults);
  const stdout =
    format === "junit"
      ? (await import("../inspect/tests/report/junit.ts")).junitTests(run)
      : await report(format, findings, {
          files: paths,
          version: version(),
          isColored: isColored.stdout,
        });
  const coverage = flags.has("coverage") ? coverageText(run) : "";
  const isMachine = format !== "text";
  return {
    exitCode: diagnostics.length > 0 ? 1 : 0,
    stdout: isMachine ? stdout : `${stdout}${coverage}`,
    stderr: `${isMachine ? coverage : ""}${verdictText(run, paths, failed.length)}`,
  };
}

function noTests(config: string): CommandResult {
  const stderr =
    `error: there is no *.test.yaml next to ${config}\n` +
    "hint: `gwc explain test` has an example; `gwc test FILE` runs another file\n";
  return { exitCode: 2, stderr };
}

/** `access.test.yaml: 12 passed, 1 failed` */
function verdictText(
  { verdicts, mistakes }: TestRun,
  paths: readonly string[],
  failed: number,
): string {
  const parts = [
    `${verdicts.length - failed} passed`,
    ...(failed === 0 ? [] : [`${failed} failed`]),
    ...(mistakes.length === 0 ? [] : ["some tests could not be run"]),
  ];
  return `${paths.join(", ")}: ${parts.join(", ")}\n`;
}
