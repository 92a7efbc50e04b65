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

/** `gwc verify`: whether a bundle is, byte for byte, what a configuration builds. */
export const verify: Command = {
  minPositionals: 1,
  maxPositionals: Number.POSITIVE_INFINITY,
  details:
    "OUT is the folder that a build wrote, or a gateway.mjs. It is built again from FILE (default: gateway.yaml) in\n" +
    "memory and compared byte by byte; nothing is written, nothing of the bundle is run. Where it differs, the parts of\n" +
    "it that do are named: generated modules, modules of the runtime, packages.\n" +
    "Exit code: 0 the same bytes, 1 others (or mistakes in the configuration).",
  options: [
    {
      name: "trace",
      value: "LEVEL",
      choices: ["path", "line", "none"],
      summary: "as it was given to the build (default: path)",
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
      stderr: "error: these are several Gateways\nhint: name one by --gateway\n",
    };
  const { files: built, manifest } = await emitProgram(program, files, {
    trace: oneOf(TRACES, options.trace, "path"),
    isTypeChecked: false,
    version: version(),
    progress,
  });
  const text = built.find((each) => each.path === "gateway.mjs")?.text ?? "";
  const what = `${found.file} and what ${input.files.join(", ")} builds`;
  if (text === found.text)
    return { exitCode: 0, stdout: `the same bytes: ${what} (sha256 ${manifest.bundle.sha256})\n` };
  const parts = bundleDifferences(found.text, text).map((each) => `  ${each}\n`);
  const { builtBy } = found;
  const other =
    builtBy === undefined || builtBy === version()
      ? ""
      : `note: it was built by gwc ${builtBy}, and this is ${version()}\n`;
  return { exitCode: 1, stdout: `not the same: ${what}\n${parts.join("")}`, stderr: other };
}

const HINT = "hint: `gwc verify out/gateway gateway.yaml`\n";

interface FoundBundle {
  readonly file: string;
  readonly text: string;
  /** The version that its manifest names; undefined: it has none beside it. */
  readonly builtBy: string | undefined;
}

function bundleText(bundle: string, host: Host): FoundBundle | undefined {
  for (const file of [bundle, path.join(bundle, "gateway.mjs")]) {
    const read = host.readText(file);
    if (read.kind === "problem") continue;
    const beside = host.readText(path.join(path.dirname(file), "manifest.json"));
    const manifest = beside.kind === "text" ? readManifest(beside.text) : undefined;
    const builtBy = manifest?.kind === "manifest" ? manifest.manifest.gwc : undefined;
    return { file, text: read.text, builtBy };
  }
  return undefined;
}
