import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { gatewaySummary } from "../4-emit/manifest/gateway-summary.ts";
import { failureCode, findingsOf } from "../diagnostics/report/findings.ts";
import { textReport } from "../diagnostics/report/text.ts";
import { fileProblem, type Host } from "../host.ts";
import { auditPrograms } from "../inspect/audit/audit.ts";
import { type AuditBaseline, unaccepted } from "../inspect/audit/baseline.ts";
import { type CheckedInput, checkInput } from "../inspect/check-input.ts";
import { checkedDiff, emptyBase, programPairs } from "../inspect/diff/checked-diff.ts";
import { gitHost, isAbsentFrom } from "../inspect/diff/git-host.ts";
import { gatewayGraph } from "../inspect/graph/gateway-graph.ts";
import { type ReviewedGateway, reviewAccess } from "../inspect/review/access-review.ts";
import { reviewPage } from "../inspect/review/page/page.ts";
import type { Review } from "../inspect/review/page/review.ts";
import { runTests, type TestRun } from "../inspect/tests/run-tests.ts";
import { testFilesOf } from "../inspect/tests/test-files.ts";
import { version } from "../installation.ts";
import { isStartupError } from "../model/startup-error.ts";
import { BASELINE, baselineFrom } from "./accepted-findings.ts";
import type { Arguments, Command, CommandContext, CommandResult } from "./command.ts";
import { commandInput } from "./default-input.ts";
import { fileOption, gateway } from "./shared-options.ts";

/** `gwc review`: writes a page about a configuration for reviewers and auditors. */
export const review: Command = {
  minPositionals: 0,
  maxPositionals: Number.POSITIVE_INFINITY,
  details:
    "FILES are standalone files or Kubernetes manifests (default: gateway.yaml). The page is one file that opens without a server " +
    "and loads nothing. It has who may use which tool, path and model, with the deciding rule and an executed request for each answer; " +
    "what changed since a base; the findings of `gwc audit`; the results and the coverage of `gwc test`; and the graph.\n" +
    `Tests are the *.test.yaml next to the first of FILES; accepted findings are those of ${BASELINE}.\n` +
    "Exit code: 0 the page was written, 1 an invalid configuration. The page does not judge: `gwc diff --exit-code` and `gwc audit` do.",
  options: [
    fileOption,
    {
      name: "base",
      value: "BASE",
      summary: "show what changed since a git revision (main, HEAD~1), a file or a folder",
    },
    {
      name: "out",
      short: "o",
      value: "PATH",
      summary: "the page to write, or - for standard output (default: review.html)",
    },
    gateway,
  ],
  examples: ["gwc review", "gwc review manifests/ --base origin/main -o review.html"],
  work: reviewFiles,
};

async function reviewFiles(given: Arguments, context: CommandContext): Promise<CommandResult> {
  const { positionals, options } = given;
  const { host, isColored, progress } = context;
  const input = commandInput(positionals, host, "gwc review FILE");
  if (input.kind === "none") return input.result;
  const baseline = baselineFrom(undefined, host);
  if ("exitCode" in baseline) return baseline;
  const read = (files: readonly string[], from: Host) =>
    checkInput(files, from, false, options.gateway);
  progress("checking");
  const checked = read(input.files, host);
  if (checked.programs.length === 0)
    return {
      exitCode: failureCode(checked.findings),
      stderr: textReport(checked.findings, isColored.stderr),
    };
  const base = options.base === undefined ? undefined : baseOf(options.base, input.files, host);
  if (base !== undefined && "exitCode" in base) return base;
  const isNew =
    base?.files === input.files && base.files.every((file) => isAbsentFrom(base.host, file));
  const before = base && (isNew ? emptyBase(checked) : read(base.files, base.host));
  if (before !== undefined && before.programs.length === 0) {
    const report = textReport(before.findings, isColored.stderr);
    return { exitCode: 1, stderr: `error: the base ${options.base} is invalid\n\n${report}` };
  }
  progress("running tests");
  const tests = await testsOf(input.files[0] ?? ".", checked, host);
  if (tests instanceof Error)
    return { exitCode: 1, stderr: `error: the gateway would not start: ${tests.message}\n` };
  progress("deciding access");
  const page = reviewPage({
    inputs: input.files,
    files: checked.files,
    made: { at: host.now(), version: version() },
    access: reviewAccess(reviewedGateways(checked, before)),
    changes: before && {
      base: options.base ?? "",
      diff: checkedDiff(before, checked),
      files: { before: before.files, after: checked.files },
    },
    ...auditOf(checked, baseline),
    tests,
    graphs: graphsOf(checked, before),
  });
  return written(page, options.out ?? "review.html");
}

/** The earlier configuration, and the host that reads it. */
interface Base {
  readonly files: readonly string[];
  readonly host: Host;
}

/** Finds the earlier configuration: another file or folder, or the same files in a git revision. */
function baseOf(name: string, files: readonly string[], host: Host): Base | CommandResult {
  const isPath = host.readText(name).kind === "text" || host.filesIn(name) !== undefined;
  const revision = gitHost(name, host);
  if (isPath && revision !== undefined) {
    const stderr =
      `error: "${name}" is a git revision and a path\n` +
      `hint: write ./${name} for the path, or refs/heads/${name} for the branch\n`;
    return { exitCode: 2, stderr };
  }
  if (revision !== undefined) return { files, host: revision };
  if (isPath) return { files: [name], host };
  const stderr = `error: "${name}" is neither a git revision nor a file or folder\n`;
  return { exitCode: 2, stderr };
}

async function testsOf(
  config: string,
  checked: CheckedInput,
  host: Host,
): Promise<TestRun | Error | undefined> {
  const paths = testFilesOf(config, host);
  if (paths.length === 0) return undefined;
  return runTests(paths, checked, host).catch((error: unknown) => {
    if (isStartupError(error)) return error;
    throw error;
  });
}

function auditOf(
  { diagnostics, files, programs }: CheckedInput,
  baseline: AuditBaseline,
): Pick<Review, "findings" | "accepted"> {
  const all = findingsOf([...diagnostics, ...auditPrograms(programs)], files, false);
  const { open } = unaccepted(all, baseline);
  const accepted = all
    .filter((finding) => !open.includes(finding))
    .map((finding) => {
      const entry = baseline.accepted.find(
        ({ code, message }) => code === finding.code && message === finding.message,
      );
      return { finding, reason: entry?.reason ?? "" };
    });
  return { findings: open, accepted };
}

/** Pairs each gateway with its earlier form. */
function reviewedGateways(
  { programs }: CheckedInput,
  before: CheckedInput | undefined,
): readonly ReviewedGateway[] {
  if (before === undefined) return programs.map((program) => ({ program, before: undefined }));
  const old = new Map(programPairs(before, { programs }).map(([a, b]) => [b, a]));
  return programs.map((program) => ({ program, before: old.get(program) }));
}

function graphsOf({ programs }: CheckedInput, before: CheckedInput | undefined): Review["graphs"] {
  return programs.map((program) => {
    const isOnly = programs.length === 1 && before?.programs.length === 1;
    const old = before?.programs.find(({ name }) => isOnly || name === program.name);
    const graph = gatewayGraph(gatewaySummary(program), old && gatewaySummary(old));
    return { gateway: program.name, graph };
  });
}

function written(page: string, out: string): CommandResult {
  if (out === "-") return { exitCode: 0, stdout: page };
  try {
    mkdirSync(path.dirname(out), { recursive: true });
    writeFileSync(out, page);
  } catch (error) {
    return { exitCode: 1, stderr: `error: "${out}" can't be written: ${fileProblem(error)}\n` };
  }
  return { exitCode: 0, stderr: `wrote ${out}\n` };
}
