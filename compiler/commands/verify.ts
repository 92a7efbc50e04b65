import path from "node:path";
import { readManifest } from "../4-emit/manifest/read-manifest.ts";
import type { TraceLevel } from "../4-emit/modules.ts";
import { emitProgram } from "../compile.ts";
import { textReport } from "../diagnostics/report/text.ts";
import type { Host } from "../host.ts";
import { checkInput } from "../inspect/check-input.ts";
import { bundleDifferences } from "../inspect/verify/bundle-differences.ts";
import { version } from "../installation.ts";
import { oneOf } from "./arguments.ts";
import type { Arguments, Command, CommandContext, CommandResult } from "./command.ts";
import { commandInput } from "./default-input.ts";
import { gateway } from "./shared-options.ts";

const TRACES: readonly TraceLevel[] = ["path", "line", "none"];

/** `gwc verify`: verifies that a build or bundle is byte for byte what a configuration builds. */
export const verify: Command = {
  minPositionals: 1,
  maxPositionals: Number.POSITIVE_INFINITY,
  details:
    "OUT is the output folder of a build (bundle, modules, manifest.json, bill of " +
    "materials, Dockerfile, ...) or a single gateway.mjs. FILE (default: gateway.yaml) is built again in " +
    "memory and compared byte by byte; nothing is written and the bundle is not run. Lists the files that differ " +
    "and, for a bundle, which parts: generated modules, runtime modules, packages.\n" +
    "Exit code: 0 identical, 1 different (or an invalid configuration).",
  options: [
    {
      name: "trace",
      value: "LEVEL",
      choices: ["path", "line", "none"],
      summary: "the --trace of the build (default: path)",
    },
    {
      name: "image",
      value: "IMAGE",
      summary: "the --image of the build",
    },
    gateway,
  ],
  examples: ["gwc verify out/gateway", "gwc verify deployed/gateway.mjs gateway.yaml"],
  work: verifyBundle,
};

async function verifyBundle(
  { positionals: [bundle = "", ...given], options }: Arguments,
  { host, isColored, progress }: CommandContext,
): Promise<CommandResult> {
  const found = bundleText(bundle, host);
  if (found === undefined)
    return { exitCode: 2, stderr: `error: there is no bundle "${bundle}"\n${HINT}` };
  const input = commandInput(given, host, "gwc verify OUT FILE");
  if (input.kind === "none") return input.result;
  const { programs, files, findings } = checkInput(input.files, host, false, options.gateway);
  const [program, second] = programs;
  if (program === undefined) return { exitCode: 1, stderr: textReport(findings, isColored.stderr) };
  if (second !== undefined)
    return {
      exitCode: 2,
      stderr: "error: the configuration has several Gateways\nhint: choose one with --gateway\n",
    };
  const { files: built, manifest } = await emitProgram(program, files, {
    trace: oneOf(TRACES, options.trace, "path"),
    isTypeChecked: false,
    version: version(),
    image: options.image,
    hasObservability: found.hasObservability,
    progress,
  });
  const text = built.find((each) => each.path === BUNDLE)?.text ?? "";
  const builds = `what ${input.files.join(", ")} builds`;
  const parts = text === found.text ? [] : bundleDifferences(found.text, text);
  const { folder, builtBy } = found;
  const { differences } = await import("../4-emit/write.ts");
  const others = folder === undefined ? [] : differences(folder, built);
  const lines = [
    ...parts.map((part) => `${folder === undefined ? "" : `${BUNDLE}: `}${part}`),
    ...others.flatMap(({ path: name, what }) =>
      name === BUNDLE ? [] : `${name} ${what === "differs" ? what : `is ${what}`}`,
    ),
  ];
  if (lines.length === 0) {
    const what =
      folder === undefined
        ? `${found.file} and ${builds}`
        : `${built.length} files in ${folder} and ${builds}`;
    return { exitCode: 0, stdout: `the same bytes: ${what} (sha256 ${manifest.bundle.sha256})\n` };
  }
  const what = `${folder ?? found.file} and ${builds}`;
  const other =
    builtBy === undefined || builtBy === version()
      ? ""
      : `note: the bundle was built by gwc ${builtBy}, this is ${version()}\n`;
  return {
    exitCode: 1,
    stdout: `not the same: ${what}\n${lines.map((line) => `  ${line}\n`).join("")}`,
    stderr: other,
  };
}

const HINT = "hint: `gwc verify out/gateway gateway.yaml`\n";

const BUNDLE = "gateway.mjs";
/** File that only a build with `--observability` has. */
const DASHBOARD = "observability/dashboard.json";

interface FoundBundle {
  readonly file: string;
  /** Output folder to compare; `undefined` if only a bundle is compared. */
  readonly folder: string | undefined;
  readonly text: string;
  /** The version of gwc in the manifest next to the bundle; `undefined` if there is no manifest. */
  readonly builtBy: string | undefined;
  /** Whether the build has a dashboard and alert rules. */
  readonly hasObservability: boolean;
}

function bundleText(bundle: string, host: Host): FoundBundle | undefined {
  for (const folder of [undefined, bundle]) {
    const file = folder === undefined ? bundle : path.join(folder, BUNDLE);
    const read = host.readText(file);
    if (read.kind === "problem") continue;
    const stored = host.readText(path.join(path.dirname(file), "manifest.json"));
    const manifest = stored.kind === "text" ? readManifest(stored.text) : undefined;
    const builtBy = manifest?.kind === "manifest" ? manifest.manifest.gwc : undefined;
    const dashboard = host.readText(path.join(folder ?? "", DASHBOARD));
    const hasObservability = folder !== undefined && dashboard.kind === "text";
    return { file, folder, text: read.text, builtBy, hasObservability };
  }
  return undefined;
}
