import { printable } from "../diagnostics/report/display-width.ts";
import { checkedDiff } from "../inspect/diff/checked-diff.ts";
import type { ProgramDiff } from "../inspect/diff/difference.ts";
import { type DiffFormat, diffReport } from "../inspect/diff/report/diff-report.ts";
import { summaryDiff } from "../inspect/diff/summary-diff.ts";
import { writtenPlaces } from "../inspect/diff/written-place.ts";
import { oneOf } from "./arguments.ts";
import type { Arguments, Command, CommandContext, CommandResult } from "./command.ts";
import { comparedSides, filesOf, readSides, severalGateways, summaryOf } from "./compared-sides.ts";
import { gateway, renderOption } from "./shared-options.ts";

const FORMATS: readonly DiffFormat[] = ["text", "json", "markdown", "sarif", "github"];

/** `gwc diff`: reports what a configuration change means for requests. */
export const diff: Command = {
  minPositionals: 0,
  maxPositionals: 2,
  details:
    "OLD and NEW are files, folders or the manifest.json of a bundle (which has rules, routes, ports and requirements; " +
    "of policy settings it shows only whether they changed). --git BASE compares one of them (default: gateway.yaml) with its version in that revision.\n" +
    "--render runs a program without a shell, in the working folder and in a checkout of BASE, and compares the manifests that it prints. " +
    "It sees only the variables that renderers need, and no token.\n" +
    "Compares the effect on requests, not the files: ports, hosts, routes and their " +
    "precedence, policies, rules, backends, TLS, required variables. Each difference in access comes with " +
    "an example request that was run on the compiled rules of both sides. The first line is the verdict; differences that open access come " +
    "first. Formatting, order and renames are not differences. Undecided comparisons are counted: " +
    "each question has a fixed budget of steps (a few seconds), the same on every machine.\n" +
    "Exit code with --exit-code: 0 no difference, 4 differences, 5 access opened or a comparison undecided.",
  options: [
    {
      name: "git",
      value: "BASE",
      summary: "compare with a git revision: main, HEAD~1",
    },
    renderOption,
    {
      name: "format",
      value: "FORMAT",
      choices: ["text", "json", "markdown", "sarif", "github"],
      summary: "output format; markdown suits pull request comments (default: text)",
    },
    {
      name: "exit-code",
      summary: "exit with 4 if there are differences, 5 if access opens",
    },
    gateway,
  ],
  examples: [
    "gwc diff old.yaml new.yaml",
    "gwc diff --git main --format markdown",
    "gwc diff out/gateway/manifest.json gateway.yaml",
    "gwc diff --git origin/main manifests/ --exit-code",
    "gwc diff --git main --render 'kustomize build overlays/prod'",
  ],
  work: compare,
};

async function compare(given: Arguments, context: CommandContext): Promise<CommandResult> {
  const sides = comparedSides(given, context, "diff");
  if ("exitCode" in sides) return sides;
  const [before, after] = readSides(sides, given.options.gateway, context);
  if (before.kind === "refused") return before.result;
  if (after.kind === "refused") return after.result;
  const isOfPrograms = before.kind === "checked" && after.kind === "checked";
  const several = isOfPrograms ? undefined : severalGateways([before, after]);
  if (several !== undefined) return several;
  const found =
    before.kind === "checked" && after.kind === "checked"
      ? checkedDiff(before.checked, after.checked)
      : summaryDiff(summaryOf(before), summaryOf(after));
  const isRendered = given.options.render !== undefined;
  const files = {
    ...{ before: filesOf(before), after: filesOf(after) },
    ...(isRendered && { written: writtenPlaces(context.host) }),
  };
  const defaults = context.host.variable("GITHUB_ACTIONS") === "true" ? "github" : "text";
  const format = oneOf(FORMATS, given.options.format, defaults);
  const stdout = diffReport(format, found, files, context.isColored.stdout);
  const [{ file, isAbsent = false }] = sides;
  const stderr = isAbsent
    ? `note: "${printable(file)}" is not in ${given.options.git}, so all of it is new\n`
    : "";
  return { exitCode: given.flags.has("exit-code") ? exitCodeOf(found) : 0, stdout, stderr };
}

function exitCodeOf({ differences, undecided }: ProgramDiff): 0 | 4 | 5 {
  if (undecided.length > 0 || differences.some(({ direction }) => direction === "opens")) return 5;
  return differences.length > 0 ? 4 : 0;
}
