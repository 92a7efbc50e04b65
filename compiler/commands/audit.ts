import { findingsOf, totals } from "../diagnostics/report/findings.ts";
import { type ReportFormat, report } from "../diagnostics/report/report.ts";
import { auditPrograms } from "../inspect/audit/audit.ts";
import {
  type AuditBaseline,
  baselineText,
  readBaseline,
  unaccepted,
} from "../inspect/audit/baseline.ts";
import { checkInput } from "../inspect/check-input.ts";
import { version } from "../installation.ts";
import { oneOf } from "./arguments.ts";
import type { Arguments, Command, CommandContext, CommandResult } from "./command.ts";
import { commandInput } from "./default-input.ts";
import { gateway } from "./shared-options.ts";

const FORMATS: readonly ReportFormat[] = ["text", "json", "sarif", "github", "junit"];

const BASELINE = ".gwc-audit.yaml";

/** `gwc audit`: what is open, weak or does nothing in a configuration that has no mistake. */
export const audit: Command = {
  minPositionals: 0,
  maxPositionals: Number.POSITIVE_INFINITY,
  details:
    "Says what `gwc check` warns of and, beyond that, what is allowed and rarely meant: MCP servers and models that\n" +
    "everybody may use, rules that never decide (worked out, not guessed), tokens that are passed on, servers whose\n" +
    "certificates are not checked. `gwc explain CODE` says why, and what to do.\n" +
    `Findings that are as they should be stand in ${BASELINE}, each with its reason; --write-baseline writes all of\n` +
    "them there. Exit code: 0 no warning that is not accepted, 1 some (or mistakes in the configuration).",
  options: [
    {
      name: "format",
      value: "FORMAT",
      choices: ["text", "json", "sarif", "github", "junit"],
      summary: "how findings are written (default: text)",
    },
    { name: "baseline", value: "PATH", summary: `what was accepted (default: ${BASELINE})` },
    { name: "write-baseline", summary: "print a baseline that accepts every finding there is" },
    gateway,
  ],
  examples: ["gwc audit", "gwc audit --write-baseline > .gwc-audit.yaml"],
  work: auditFiles,
};

async function auditFiles(
  { positionals, options, flags }: Arguments,
  { host, isColored }: CommandContext,
): Promise<CommandResult> {
  const input = commandInput(positionals, host, "gwc audit FILE");
  if (input.kind === "none") return input.result;
  const baseline = baselineFrom(options.baseline, host.readText(options.baseline ?? BASELINE));
  if ("exitCode" in baseline) return baseline;
  const checked = checkInput(input.files, host, false, options.gateway);
  const found = auditPrograms(checked.programs);
  const findings = findingsOf([...checked.diagnostics, ...found], checked.files, false);
  if (flags.has("write-baseline")) return { exitCode: 0, stdout: baselineText(findings, baseline) };
  const { open, gone } = unaccepted(findings, baseline);
  const defaults = host.variable("GITHUB_ACTIONS") === "true" ? "github" : "text";
  const stdout = await report(oneOf(FORMATS, options.format, defaults), open, {
    files: input.files,
    version: version(),
    isColored: isColored.stdout,
  });
  const accepted = findings.length - open.length;
  const stderr = [
    `${input.files.join(", ")}: ${open.length === 0 ? "nothing found" : totals(open)}`,
    ...(accepted === 0 ? [] : [`, ${accepted} accepted`]),
    "\n",
    ...gone.map(({ message }) => `note: accepted and not found any more: ${message}\n`),
  ].join("");
  const isBad = checked.programs.length === 0 || open.some(({ severity }) => severity !== "note");
  return { exitCode: isBad ? 1 : 0, stdout, stderr };
}

function baselineFrom(
  named: string | undefined,
  read: ReturnType<CommandContext["host"]["readText"]>,
): AuditBaseline | CommandResult {
  if (read.kind === "problem") {
    if (named === undefined) return { accepted: [] };
    return { exitCode: 2, stderr: `error: "${named}" can't be read: ${read.problem}\n` };
  }
  const hint = "hint: `gwc audit --write-baseline` prints one\n";
  return (
    readBaseline(read.text) ?? {
      exitCode: 2,
      stderr: `error: "${named ?? BASELINE}" is no baseline: accepted: [{code, message, reason}]\n${hint}`,
    }
  );
}
