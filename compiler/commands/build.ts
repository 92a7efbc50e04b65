import path from "node:path";
import { setFlagsFromString } from "node:v8";
import { isHole } from "../../templates/code/hole.ts";
import { withoutDocuments } from "../1-parse/read-files.ts";
import { cacheFolder } from "../4-emit/check/cache-folder.ts";
import type { Emitted } from "../4-emit/emit.ts";
import { missingInImage } from "../4-emit/image-commands.ts";
import type { TraceLevel } from "../4-emit/modules.ts";
import type { OutputFile } from "../4-emit/write.ts";
import { emitProgram } from "../compile.ts";
import { type Diagnostic, Diagnostics, keyPlace } from "../diagnostics/diagnostic.ts";
import { failureCode, findingsOf } from "../diagnostics/report/findings.ts";
import { textReport } from "../diagnostics/report/text.ts";
import { fileProblem, type Host } from "../host.ts";
import { type CheckedInput, checkInput } from "../inspect/check-input.ts";
import { version } from "../installation.ts";
import { MAX_IN_CONFIG_MAP } from "../ir/deployment.ts";
import type { Program } from "../ir/program.ts";
import { allRoutes } from "../ir/routes.ts";
import { holeText } from "../ir/settings-text.ts";
import { oneOf } from "./arguments.ts";
import type { Arguments, Command, CommandContext, CommandResult } from "./command.ts";
import { commandInput } from "./default-input.ts";
import { fileOption, gateway, strict } from "./shared-options.ts";

const TRACES: readonly TraceLevel[] = ["path", "line", "none"];

/** `gwc build`: checks a configuration, writes the generated gateway and prints a summary. */
export const build: Command = {
  minPositionals: 0,
  maxPositionals: Number.POSITIVE_INFINITY,
  details:
    "FILES are standalone files or Kubernetes manifests: files, folders, or - for standard input (default: gateway.yaml).\n" +
    "Writes main.ts, routes/*.ts, gateway.mjs (start it with `node gateway.mjs`), Dockerfile, manifest.json (what the " +
    "bundle serves), modules.json (which modules it contains and why) and gateway.cdx.json (its CycloneDX bill of materials). " +
    "For a Gateway in manifests, kubernetes/ has the resources that run it in a cluster.\n" +
    "Stale files of the previous build are removed; files that gwc did not write are never touched.",
  options: [
    fileOption,
    {
      name: "out",
      short: "o",
      value: "DIR",
      summary: "output folder (default: out/NAME, after the gateway)",
    },
    {
      name: "trace",
      value: "LEVEL",
      choices: ["path", "line", "none"],
      summary: "detail of comments that name the configuration (default: path)",
    },
    {
      name: "print",
      value: "WHAT",
      choices: ["program"],
      summary: "print the resolved program as JSON; write nothing",
    },
    { name: "check", summary: "write nothing; exit with 1 if the output is out of date" },
    gateway,
    {
      name: "image",
      value: "IMAGE",
      summary: "image for kubernetes/, instead of the bundle in a ConfigMap",
    },
    {
      name: "observability",
      summary: "also write observability/: a Grafana dashboard and Prometheus alerts",
    },
    strict,
    { name: "no-type-check", summary: "skip the type check of generated code (faster)" },
  ],
  examples: ["gwc build", "gwc build gateway.yaml -o dist --trace line", "gwc build --check"],
  work: buildFiles,
};

async function buildFiles(
  { positionals, options, flags }: Arguments,
  context: CommandContext,
): Promise<CommandResult> {
  const input = commandInput(positionals, context.host, "gwc build FILE");
  if (input.kind === "none") return input.result;
  context.progress("checking");
  saveMemory();
  const trace = oneOf(TRACES, options.trace, "path");
  const { programs, files, findings } = checkedInput(
    input.files,
    context.host,
    flags.has("strict"),
    options.gateway,
    trace,
  );
  const isolated = programs.flatMap(missingInImage);
  const talk = textReport(
    [...findings, ...findingsOf(isolated, files, false)],
    context.isColored.stderr,
  );
  const [first, second] = programs;
  if (first === undefined) return { exitCode: failureCode(findings), stderr: talk };
  if (options.print === "program") {
    const printed = second === undefined ? first : programs;
    return { exitCode: 0, stderr: talk, stdout: `${programText(printed)}\n` };
  }
  const builds: Build[] = [];
  for (const program of programs) {
    const emitted = await emitProgram(program, files, {
      trace,
      isTypeChecked: !flags.has("no-type-check"),
      cacheFolder: cacheFolder(context.host, process.platform),
      version: version(),
      image: options.image,
      hasObservability: flags.has("observability"),
      progress: context.progress,
    });
    if (emitted.findings.length > 0) return emitError(emitted.findings);
    builds.push({ program, emitted, folder: folderOf(program, options.out, programs.length) });
  }
  const oversized = findingsOf(builds.flatMap(tooLarge), files, false);
  if (oversized.length > 0)
    return { exitCode: 1, stderr: talk + textReport(oversized, context.isColored.stderr) };
  if (flags.has("check")) return freshness(builds, talk);
  for (const { folder, emitted } of builds) {
    const problem = await writeBuild(folder, emitted.files);
    if (problem !== undefined) return { exitCode: 1, stderr: `${talk}${problem}` };
  }
  const tables = builds.map(({ folder, program, emitted }) => buildTable(folder, program, emitted));
  return { exitCode: 0, stderr: talk, stdout: tables.join("\n") };
}

/**
 * Makes V8 collect more often. The steps of a build leave much garbage and little else: of 10,000 routes, 100 MB are in use
 * at a time, for which V8 would let the process grow to 700 MB, a third of them for new objects.
 */
function saveMemory(): void {
  setFlagsFromString("--heap-growing-percent=100");
  setFlagsFromString("--semi-space-growth-factor=1");
}

/**
 * Checks the input. Without lines in the output, no later step reads the YAML nodes of files, which take as much memory as
 * the program.
 */
function checkedInput(
  paths: readonly string[],
  host: Host,
  isStrict: boolean,
  gateway: string | undefined,
  trace: TraceLevel,
): CheckedInput {
  const checked = checkInput(paths, host, isStrict, gateway);
  return trace === "line" ? checked : { ...checked, files: withoutDocuments(checked.files) };
}

/** Formats programs as JSON, with emitted code as strings. */
function programText(programs: Program | readonly Program[]): string {
  const plain = (_key: string, value: unknown) => (isHole(value) ? holeText(value) : value);
  return JSON.stringify(programs, plain, 2);
}

/** A compiled gateway and the folder that it is written to. */
interface Build {
  readonly program: Program;
  readonly emitted: Emitted;
  readonly folder: string;
}

/** Reports a bundle that is too large for a ConfigMap. */
function tooLarge({
  program: { deployment },
  emitted: { packedSize = 0 },
}: Build): readonly Diagnostic[] {
  const diagnostics = new Diagnostics();
  if (deployment !== undefined && packedSize > MAX_IN_CONFIG_MAP)
    diagnostics.report("bundle-too-large", keyPlace(deployment.origin), { size: packedSize });
  return diagnostics.list;
}

/** Returns the output folder; several gateways get a subfolder each, named after them. */
function folderOf({ name }: Program, out: string | undefined, count: number): string {
  if (out === undefined) return path.join("out", name);
  return count === 1 ? out : path.join(out, name);
}

/** `gwc build --check`: compares the existing output with what a build would write. */
async function freshness(builds: readonly Build[], talk: string): Promise<CommandResult> {
  const { differences } = await import("../4-emit/write.ts");
  const lines = builds.flatMap(({ folder, emitted }) =>
    differences(folder, emitted.files).map(
      ({ path: name, what }) => `${path.join(folder, name)}: ${what}\n`,
    ),
  );
  if (lines.length === 0) {
    const folders = builds.map(({ folder }) => `${folder}: up to date\n`);
    return { exitCode: 0, stderr: talk, stdout: folders.join("") };
  }
  const hint = "hint: run `gwc build` with the same options to update the output\n";
  return { exitCode: 1, stderr: `${talk}${hint}`, stdout: lines.join("") };
}

async function writeBuild(
  folder: string,
  files: readonly OutputFile[],
): Promise<string | undefined> {
  const { foreignFiles, writeFiles } = await import("../4-emit/write.ts");
  try {
    const foreign = foreignFiles(folder, files);
    if (foreign.length > 0) {
      const [names, were] =
        foreign.length === 1 ? [`"${foreign[0]}"`, "was"] : [foreign.join(", "), "were"];
      return (
        `error: ${names} in ${folder} ${were} not written by gwc; nothing was changed\n` +
        "hint: build into another folder (-o DIR), or move these files away\n"
      );
    }
    writeFiles(folder, files);
    return undefined;
  } catch (error) {
    if (!(error instanceof Error) || !("syscall" in error)) throw error;
    return `error: ${folder} cannot be written: ${fileProblem(error)}\n`;
  }
}

/** Reports that generated code failed its type check, which is always a bug in gwc. */
function emitError(findings: Emitted["findings"]): CommandResult {
  const lines = findings.map(({ module, line, message }) => `  ${module}:${line}: ${message}`);
  const stderr = [
    "error[internal-emit-error]: the code that gwc generated does not pass its own type check",
    ...lines,
    `This is a bug in gwc ${version()}, not in your configuration; nothing was written.`,
    "Please report it with the lines above. `--no-type-check` builds without the check.",
    "",
  ].join("\n");
  return { exitCode: 3, stderr };
}

/** Renders the contents of a build as an aligned table: routes, policies, modules, the bundle's size. */
function buildTable(folder: string, program: Program, emitted: Emitted): string {
  const { modules, bundle, graph } = emitted;
  const routes = allRoutes(program).map(({ route }) => route.name);
  const policies = Object.keys(graph.policies);
  const rows: readonly (readonly [string, number | string, string])[] = [
    ["routes", routes.length, shortList(routes)],
    ["policies", policies.length, shortList(policies)],
    ["modules", modules.length, `plus ${emitted.bundle.modules.length} of the runtime`],
    ["bundle", size(Buffer.byteLength(bundle.text)), `node ${folder}/gateway.mjs`],
  ];
  const width = Math.max(...rows.map(([, amount]) => String(amount).length));
  const lines = rows.map(([what, amount, detail]) =>
    `  ${what.padEnd(8)}  ${String(amount).padStart(width)}  ${detail}`.trimEnd(),
  );
  return `${folder}\n${lines.join("\n")}\n`;
}

function shortList(names: readonly string[]): string {
  const shown = names.slice(0, 6).join(", ");
  return names.length > 6 ? `${shown}, and ${names.length - 6} more` : shown;
}

function size(bytes: number): string {
  return bytes < 1_000_000
    ? `${Math.round(bytes / 1000)} kB`
    : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
