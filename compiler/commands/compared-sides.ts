import { gatewaySummary } from "../4-emit/manifest/gateway-summary.ts";
import { readManifest } from "../4-emit/manifest/read-manifest.ts";
import type { Checked } from "../compile.ts";
import { printable } from "../diagnostics/report/display-width.ts";
import { textReport } from "../diagnostics/report/text.ts";
import type { Host } from "../host.ts";
import { type CheckedInput, checkInput } from "../inspect/check-input.ts";
import { emptyBase } from "../inspect/diff/checked-diff.ts";
import { gitHost, isAbsentFrom, isInRepository } from "../inspect/diff/git-host.ts";
import { commandWords, RENDERED, render, renderedHost } from "../inspect/diff/rendered-side.ts";
import type { SummarySide } from "../inspect/diff/summary-diff.ts";
import type { Program } from "../ir/program.ts";
import type { Arguments, CommandContext, CommandResult } from "./command.ts";
import { commandInput } from "./default-input.ts";

/** A configuration or a `manifest.json` to compare, and the host that reads it. */
export interface Side {
  readonly name: string;
  readonly file: string;
  readonly host: Host;
  /** Whether the base does not have the input yet. */
  readonly isAbsent?: boolean;
}

/** A side after reading: a checked configuration, a manifest, or an error. */
export type ReadSide =
  | {
      readonly kind: "checked";
      readonly checked: Checked;
      readonly program: Program;
      readonly file: string;
    }
  | { readonly kind: "manifest"; readonly side: SummarySide }
  | { readonly kind: "refused"; readonly result: CommandResult };

/** Reads both sides. If the base does not have the input, it is that input without ports and routes. */
export function readSides(
  [old, now]: readonly [Side, Side],
  gatewayName: string | undefined,
  context: CommandContext,
): readonly [ReadSide, ReadSide] {
  if (old.isAbsent !== true)
    return [readSide(old, gatewayName, context), readSide(now, gatewayName, context)];
  const after = readSide(now, gatewayName, context);
  if (after.kind !== "checked") return [after, after];
  const checked = emptyBase(after.checked);
  return [{ ...after, checked, program: checked.program ?? after.program }, after];
}

/** Reads a `manifest.json`, or reads and checks a configuration. */
export function readSide(
  { name, file, host }: Side,
  gatewayName: string | undefined,
  context: CommandContext,
): ReadSide {
  const read = /\.json$/i.test(file) ? host.readText(file) : undefined;
  const manifest = read?.kind === "text" ? readManifest(read.text) : undefined;
  if (manifest?.kind === "manifest")
    return { kind: "manifest", side: { summary: manifest.manifest, file } };
  if (manifest?.kind === "problem") {
    const stderr = `error: ${file} cannot be compared: ${manifest.problem}\n`;
    return { kind: "refused", result: { exitCode: 1, stderr } };
  }
  const checked = checkInput([file], host, false, gatewayName);
  const [program] = checked.programs;
  return program === undefined
    ? { kind: "refused", result: mistakes(name, checked, context) }
    : { kind: "checked", checked, program, file };
}

/** Returns the summary of a side as its manifest contains it. */
export function summaryOf(side: Exclude<ReadSide, { kind: "refused" }>): SummarySide {
  if (side.kind === "manifest") return side.side;
  return { summary: gatewaySummary(side.program), file: side.file };
}

/** Returns a usage error if a side has several Gateways; manifests and graphs cover one. */
export function severalGateways(
  sides: readonly Exclude<ReadSide, { kind: "refused" }>[],
): CommandResult | undefined {
  const isOfSeveral = sides.some(
    (side) => side.kind === "checked" && side.checked.programs.length > 1,
  );
  if (!isOfSeveral) return undefined;
  const stderr =
    "error: the configuration has several Gateways\nhint: choose one with --gateway NAMESPACE/NAME\n";
  return { exitCode: 2, stderr };
}

/** Returns the source files of a side, for line numbers. */
export function filesOf(side: Exclude<ReadSide, { kind: "refused" }>): Checked["files"] {
  return side.kind === "checked" ? side.checked.files : [];
}

/** Returns the two sides of `OLD NEW` or of `--git BASE [FILE]`, or a usage error. */
export function comparedSides(
  { positionals, options: { git, render: command } }: Arguments,
  { host }: CommandContext,
  commandName: string,
): readonly [Side, Side] | CommandResult {
  const [first, second, ...more] = positionals;
  if (command !== undefined) return renderedSides(command, git, first, host, commandName);
  if (git === undefined) {
    if (first !== undefined && second !== undefined)
      return [
        { name: OLD, file: first, host },
        { name: NEW, file: second, host },
      ];
    return usage(
      commandName,
      `give two files (\`gwc ${commandName} OLD NEW\`) or a git revision (\`gwc ${commandName} --git BASE\`)`,
    );
  }
  if (second !== undefined || more.length > 0)
    return usage(
      commandName,
      "--git compares one file or folder with its earlier version; give one",
    );
  const base = gitHost(git, host);
  if (base === undefined) return unknownRevision(git);
  const input = commandInput(
    first === undefined ? [] : [first],
    host,
    `gwc ${commandName} --git BASE FILE`,
  );
  if (input.kind === "none") return input.result;
  const [file = ""] = input.files;
  if (!isInRepository(file))
    return usage(commandName, `"${file}" is not in the git repository of this folder`);
  return [
    { name: OLD, file, host: base, isAbsent: isAbsentFrom(base, file) },
    { name: NEW, file, host },
  ];
}

/** Returns the two sides of `--render COMMAND --git BASE`: the manifests that the command prints in each revision. */
function renderedSides(
  command: string,
  git: string | undefined,
  file: string | undefined,
  host: Host,
  commandName: string,
): readonly [Side, Side] | CommandResult {
  if (git === undefined)
    return usage(commandName, "--render needs the revision to compare with: --git BASE");
  if (file !== undefined)
    return usage(
      commandName,
      `--render compares what it prints, so "${printable(file)}" is one input too many`,
    );
  const base = gitHost(git, host);
  if (base === undefined) return unknownRevision(git);
  const words = commandWords(command);
  if ("problem" in words) return usage(commandName, `--render: ${words.problem}`);
  const sides = [
    { name: OLD, revision: git, from: base },
    { name: NEW, revision: undefined, from: host },
  ].map(({ name, revision, from }): Side | CommandResult => {
    const rendering = render(words, revision, host);
    if (rendering.kind === "text")
      return { name, file: RENDERED, host: renderedHost(rendering.text, from) };
    const where = revision === undefined ? "the working folder" : revision;
    const stderr = `error: --render "${printable(command)}" failed in ${where}: ${rendering.problem}\n`;
    return { exitCode: 1, stderr };
  });
  const [before, after] = sides;
  const failed = sides.find((side) => "exitCode" in side);
  if (failed !== undefined && "exitCode" in failed) return failed;
  if (before === undefined || after === undefined || "exitCode" in before || "exitCode" in after)
    throw new Error("a side is missing");
  return [before, after];
}

const OLD = "the old configuration";
const NEW = "the new configuration";

function mistakes(
  name: string,
  { findings }: CheckedInput,
  { isColored }: CommandContext,
): CommandResult {
  const stderr = `error: ${name} is invalid\n\n${textReport(findings, isColored.stderr)}`;
  return { exitCode: 1, stderr };
}

function unknownRevision(revision: string): CommandResult {
  const stderr =
    `error: unknown git revision "${printable(revision)}"\n` +
    "hint: fetch it (`git fetch origin BRANCH`, in GitHub Actions `fetch-depth: 0`), or name another one\n";
  return { exitCode: 2, stderr };
}

function usage(command: string, problem: string): CommandResult {
  return { exitCode: 2, stderr: `error: ${problem}\nhint: see \`gwc ${command} --help\`\n` };
}
