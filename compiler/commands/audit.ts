import { findingsOf, totals } from "../diagnostics/report/findings.ts";
import { type ReportFormat, report } from "../diagnostics/report/report.ts";
import { auditPrograms } from "../inspect/audit/audit.ts";
import { baselineText, unaccepted } from "../inspect/audit/baseline.ts";
import { auditStoredKeys } from "../inspect/audit/stored-keys.ts";
import { checkInput } from "../inspect/check-input.ts";
import { NoStoreError } from "../inspect/keys/open-keys.ts";
import { version } from "../installation.ts";
import { BASELINE, baselineFrom } from "./accepted-findings.ts";
import { oneOf } from "./arguments.ts";
import type { Arguments, Command, CommandContext, CommandResult } from "./command.ts";
import { commandInput } from "./default-input.ts";
import { fileOption, gateway } from "./shared-options.ts";

const FORMATS: readonly ReportFormat[] = ["text", "json", "sarif", "github", "junit"];

/** `gwc audit`: reports what is open, weak or without effect in a valid configuration. */
export const audit: Command = {
  minPositionals: 0,
  maxPositionals: Number.POSITIVE_INFINITY,
  details:
    "Repeats the warnings of `gwc check` and adds what is allowed but rarely intended: MCP servers and models that everybody may use, " +
    "rules that never decide (proved, not guessed), tokens that are forwarded, servers whose certificates are not verified. " +
    "`gwc explain CODE` explains a finding and how to fix it.\n" +
    `Accepted findings are listed in ${BASELINE}, each with a reason; --write-baseline prints a file that accepts all current ones.\n` +
    "Exit code: 0 no unaccepted warnings, 1 unaccepted warnings or an invalid configuration.",
  options: [
    fileOption,
    {
      name: "format",
      value: "FORMAT",
      choices: ["text", "json", "sarif", "github", "junit"],
      summary: "output format (default: text)",
    },
    { name: "baseline", value: "PATH", summary: `the accepted findings (default: ${BASELINE})` },
    { name: "keys", summary: "audit the API keys in the store, too (`gwc keys`)" },
    { name: "write-baseline", summary: "print a baseline that accepts all current findings" },
    gateway,
  ],
  examples: ["gwc audit", "gwc audit --keys", "gwc audit --write-baseline > .gwc-audit.yaml"],
  work: auditFiles,
};

async function auditFiles(
  { positionals, options, flags }: Arguments,
  { host, isColored }: CommandContext,
): Promise<CommandResult> {
  const input = commandInput(positionals, host, "gwc audit FILE");
  if (input.kind === "none") return input.result;
  const baseline = baselineFrom(options.baseline, host);
  if ("exitCode" in baseline) return baseline;
  const checked = checkInput(input.files, host, false, options.gateway);
  const found = [...auditPrograms(checked.programs)];
  if (flags.has("keys"))
    try {
      for (const program of checked.programs)
        found.push(...(await auditStoredKeys(program, checked.literals, host)));
    } catch (error) {
      const isAway = error instanceof Error && error.name === "StoreError";
      if (!isAway && !(error instanceof NoStoreError)) throw error;
      return { exitCode: 1, stderr: `error: the keys cannot be read: ${error.message}\n` };
    }
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
    ...gone.map(({ message }) => `note: accepted but no longer found: ${message}\n`),
  ].join("");
  const isBad = checked.programs.length === 0 || open.some(({ severity }) => severity !== "note");
  return { exitCode: isBad ? 1 : 0, stdout, stderr };
}
