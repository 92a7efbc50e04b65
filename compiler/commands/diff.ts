import { gatewaySummary } from "../4-emit/manifest/gateway-summary.ts";
import { readManifest } from "../4-emit/manifest/read-manifest.ts";
import type { Checked } from "../compile.ts";
import { textReport } from "../diagnostics/report/text.ts";
import type { Host } from "../host.ts";
import { type CheckedInput, checkInput } from "../inspect/check-input.ts";
import type { ProgramDiff } from "../inspect/diff/difference.ts";
import { gitHost } from "../inspect/diff/git-host.ts";
import { programDiff } from "../inspect/diff/program-diff.ts";
import { type DiffFormat, diffReport } from "../inspect/diff/report/diff-report.ts";
import { type SummarySide, summaryDiff } from "../inspect/diff/summary-diff.ts";
import type { Program } from "../ir/program.ts";
import { oneOf } from "./arguments.ts";
import type { Arguments, Command, CommandContext, CommandResult } from "./command.ts";
import { commandInput } from "./default-input.ts";
import { gateway } from "./shared-options.ts";

const FORMATS: readonly DiffFormat[] = ["text", "json", "markdown", "sarif", "github"];

/** `gwc diff`: what a change of the configuration changes for those who send requests. */
export const diff: Command = {
  minPositionals: 0,
  maxPositionals: 2,
  details:
    "OLD and NEW are files or folders, or a bundle's manifest.json, of which rules, routes, ports and needs are known and\n" +
    "of settings whether they are the same. With --git BASE it is one of them (default: gateway.yaml), as it is in that\n" +
    "revision and as it is now. What is compared is what requests get, not text: ports, hosts, routes and their\n" +
    "precedence, policies, rules, backends, TLS, variables that are needed. For each difference of access there is\n" +
    "a request that was run on the compiled rules of both. The first line is the verdict; what opens access comes\n" +
    "first; nothing is said of re-quoting, moving or renaming. What can't be decided is counted, never passed over.\n" +
    "Exit code with --exit-code: 0 nothing is different, 4 something is, 5 something opens access (or may: undecided).",
  options: [
    {
      name: "git",
      value: "BASE",
      summary: "compare with the files of a git revision: main, HEAD~1",
    },
    {
      name: "format",
      value: "FORMAT",
      choices: ["text", "json", "markdown", "sarif", "github"],
      summary: "how it is written (default: text; markdown for a comment of a pull request)",
    },
    {
      name: "exit-code",
      summary: "end with 4 when something is different, 5 when it opens access",
    },
    gateway,
  ],
  examples: [
    "gwc diff old.yaml new.yaml",
    "gwc diff --git main --format markdown",
    "gwc diff out/gateway/manifest.json gateway.yaml",
    "gwc diff --git origin/main manifests/ --exit-code",
  ],
  work: compare,
};

async function compare(given: Arguments, context: CommandContext): Promise<CommandResult> {
  const sides = sidesOf(given, context);
  if ("exitCode" in sides) return sides;
  const [before, after] = sides.map((side) => readSide(side, given.options.gateway, context));
  if (before === undefined || after === undefined) throw new Error("a side is missing");
  if (before.kind === "refused") return before.result;
  if (after.kind === "refused") return after.result;
  const found =
    before.kind === "checked" && after.kind === "checked"
      ? joined(pairsOf(before.checked, after.checked).map(([old, now]) => programDiff(old, now)))
      : summaryDiff(summaryOf(before), summaryOf(after));
  const files = { before: filesOf(before), after: filesOf(after) };
  const defaults = context.host.variable("GITHUB_ACTIONS") === "true" ? "github" : "text";
  const stdout = diffReport(oneOf(FORMATS, given.options.format, defaults), found, files);
  return { exitCode: given.flags.has("exit-code") ? exitCodeOf(found) : 0, stdout };
}

interface Side {
  readonly name: string;
  readonly file: string;
  readonly host: Host;
}

/** What a side turned out to be. */
type ReadSide =
  | {
      readonly kind: "checked";
      readonly checked: Checked;
      readonly program: Program;
      readonly file: string;
    }
  | { readonly kind: "manifest"; readonly side: SummarySide }
  | { readonly kind: "refused"; readonly result: CommandResult };

function readSide(
  { name, file, host }: Side,
  gatewayName: string | undefined,
  context: CommandContext,
): ReadSide {
  const read = /\.json$/i.test(file) ? host.readText(file) : undefined;
  const manifest = read?.kind === "text" ? readManifest(read.text) : undefined;
  if (manifest?.kind === "manifest")
    return { kind: "manifest", side: { summary: manifest.manifest, file } };
  if (manifest?.kind === "problem") {
    const stderr = `error: ${file} can't be compared: ${manifest.problem}\n`;
    return { kind: "refused", result: { exitCode: 1, stderr } };
  }
  const checked = checkInput([file], host, false, gatewayName);
  const [program] = checked.programs;
  return program === undefined
    ? { kind: "refused", result: mistakes(name, checked, context) }
    : { kind: "checked", checked, program, file };
}

/** A side as its manifest would say it. */
function summaryOf(side: Exclude<ReadSide, { kind: "refused" }>): SummarySide {
  if (side.kind === "manifest") return side.side;
  return { summary: gatewaySummary(side.program), file: side.file };
}

function filesOf(side: Exclude<ReadSide, { kind: "refused" }>): Checked["files"] {
  return side.kind === "checked" ? side.checked.files : [];
}

function sidesOf(
  { positionals, options: { git } }: Arguments,
  { host }: CommandContext,
): readonly [Side, Side] | CommandResult {
  const [first, second, ...more] = positionals;
  if (git === undefined) {
    if (first !== undefined && second !== undefined)
      return [
        { name: OLD, file: first, host },
        { name: NEW, file: second, host },
      ];
    return usage("`gwc diff OLD NEW` compares two files, `gwc diff --git BASE` one with itself");
  }
  if (second !== undefined || more.length > 0)
    return usage("with --git it is one file or folder, as it was and as it is");
  const base = gitHost(git, host);
  if (base === undefined) return usage(`git knows no revision "${git}" here`);
  const input = commandInput(first === undefined ? [] : [first], host, "gwc diff --git BASE FILE");
  if (input.kind === "none") return input.result;
  const [file = ""] = input.files;
  return [
    { name: OLD, file, host: base },
    { name: NEW, file, host },
  ];
}

const OLD = "the old configuration";
const NEW = "the new configuration";

function mistakes(
  name: string,
  { findings }: CheckedInput,
  { isColored }: CommandContext,
): CommandResult {
  const stderr = `error: ${name} has mistakes\n\n${textReport(findings, isColored.stderr)}`;
  return { exitCode: 1, stderr };
}

/** Gateways by their names; of a file there is one on each side. */
function pairsOf(before: Checked, after: Checked): readonly (readonly [Program, Program])[] {
  const [old, now] = [before.programs, after.programs];
  const [first, second] = [old[0], now[0]];
  if (old.length === 1 && now.length === 1 && first !== undefined && second !== undefined)
    return [[first, second]];
  const names = new Set([...old, ...now].map(({ name }) => name));
  return [...names].flatMap((name) => {
    const [a, b] = [old.find((each) => each.name === name), now.find((each) => each.name === name)];
    const some = a ?? b;
    if (some === undefined) return [];
    const empty: Program = { ...some, binds: [], tcp: [] };
    return [[a ?? empty, b ?? empty] as const];
  });
}

function joined(all: readonly ProgramDiff[]): ProgramDiff {
  return {
    differences: all.flatMap(({ differences }) => differences),
    undecided: all.flatMap(({ undecided }) => undecided),
    changedRoutes: all.reduce((sum, { changedRoutes }) => sum + changedRoutes, 0),
  };
}

function exitCodeOf({ differences, undecided }: ProgramDiff): 0 | 4 | 5 {
  if (undecided.length > 0 || differences.some(({ direction }) => direction === "opens")) return 5;
  return differences.length > 0 ? 4 : 0;
}

function usage(problem: string): CommandResult {
  return { exitCode: 2, stderr: `error: ${problem}\nhint: \`gwc diff --help\` says more\n` };
}
