import { writeFileSync } from "node:fs";
import path from "node:path";
import { isMap, LineCounter, parseAllDocuments } from "yaml";
import { nameList } from "../diagnostics/name-list.ts";
import { fileProblem, type Host, overlaidHost } from "../host.ts";
import { presentForm } from "../import/agentgateway/present-form.ts";
import { checkInput } from "../inspect/check-input.ts";
import { FILE_FORM } from "../inspect/reference/field-index.ts";
import { affectedPlaces } from "../inspect/upgrade/affected-places.ts";
import type { ComparedSchemas, PlacedChange } from "../inspect/upgrade/schema-changes.ts";
import { comparedVersions } from "../inspect/upgrade/schema-versions.ts";
import { version } from "../installation.ts";
import type { Arguments, Command, CommandContext, CommandResult } from "./command.ts";
import { commandInput } from "./default-input.ts";
import { fileOption } from "./shared-options.ts";

/** `gwc upgrade`: reports what a new version of gwc changes in a configuration, and rewrites older forms. */
export const upgrade: Command = {
  minPositionals: 0,
  maxPositionals: 16,
  details:
    "Compares the fields of an earlier version (--from) with those of this one, and lists the places in FILES (default: " +
    "gateway.yaml) that are refused now, or that have another meaning because a default changed. Save the schema with the " +
    "earlier version: `gwc schema` for files, `gwc schema --crd` for manifests.\n" +
    "--write rewrites fields from before agentgateway 1.0, and `binds` and the ports of `llm` and `mcp` as `gateways`, the form " +
    "that `gwc init` writes. The gateway is the same, and comments are kept.\n" +
    "`gwc check` finds every mistake, and `gwc diff --git REVISION` what changes for callers.\n" +
    "Exit code: 0 nothing to do, 1 places need an edit, 2 usage error.",
  options: [
    fileOption,
    {
      name: "from",
      value: "SCHEMA",
      summary: "output of `gwc schema` or `gwc schema --crd` of the earlier version",
    },
    { name: "all", summary: "list every difference of the schemas, for the notes of a release" },
    { name: "write", summary: "rewrite older forms in FILES" },
  ],
  examples: [
    "npx gwc@0.1 schema > before.json && gwc upgrade --from before.json",
    "gwc upgrade --write",
  ],
  work: upgradeFiles,
};

async function upgradeFiles(
  { positionals, options: { from }, flags }: Arguments,
  { host }: CommandContext,
): Promise<CommandResult> {
  const compared = from === undefined ? undefined : await comparedWith(from, host);
  if (typeof compared === "string") return { exitCode: 2, stderr: `error: ${from} ${compared}\n` };
  if (flags.has("all")) return allChanges(compared);
  const input = commandInput(positionals, host, "gwc upgrade FILE");
  if (input.kind === "none") return input.result;
  const lines: string[] = [];
  let affected = 0;
  for (const file of input.files) {
    const read = host.readText(file);
    if (read.kind === "problem")
      return { exitCode: 2, stderr: `error: ${file} cannot be read: ${read.problem}\n` };
    const found = compared === undefined ? [] : affectedIn(file, read.text, compared);
    affected += found.length;
    lines.push(...found, ...rewritten(file, read.text, flags.has("write"), host));
  }
  const nothing = [`nothing to do for gwc ${version()}: ${input.files.join(", ")}`];
  const text = lines.length === 0 ? nothing : lines;
  return { exitCode: affected === 0 ? 0 : 1, stdout: `${text.join("\n")}\n` };
}

async function comparedWith(
  file: string,
  host: Host,
): Promise<ReadonlyMap<string, ComparedSchemas> | string> {
  const read = host.readText(file);
  return read.kind === "problem" ? `cannot be read: ${read.problem}` : comparedVersions(read.text);
}

/** Lists the places of a file that need an edit, as `FILE:LINE:COLUMN PATH: CHANGE`. */
function affectedIn(
  file: string,
  text: string,
  compared: ReadonlyMap<string, ComparedSchemas>,
): readonly string[] {
  const counter = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter: counter, logLevel: "silent" });
  if ("empty" in documents) return [];
  return documents.flatMap((document) => {
    const kind = isMap(document.contents) ? document.contents.get("kind") : undefined;
    const schemas = compared.get(typeof kind === "string" ? kind : FILE_FORM);
    if (schemas === undefined) return [];
    return affectedPlaces(document, counter, schemas).map(
      (each) => `${file}:${each.line}:${each.column} ${each.path}: ${each.text}`,
    );
  });
}

/** Rewrites an older form, or reports it. A result with more mistakes than the file is not used. */
function rewritten(file: string, text: string, isWritten: boolean, host: Host): readonly string[] {
  const form = presentForm(text);
  if (form.text === text) return [];
  const after = overlaidHost(host, new Map([[path.resolve(file), form.text]]));
  const [before, now] = [host, after].map((each) => errorsIn(file, each));
  if (now !== before) return [];
  const what = [
    ...(form.hasGateways ? ["gateways"] : []),
    ...(form.earlier.length > 0
      ? [`present fields for ${nameList([...new Set(form.earlier)], "and")}`]
      : []),
  ].join(", with ");
  if (!isWritten) return [`${file}: an older form; \`gwc upgrade --write\` rewrites it as ${what}`];
  try {
    writeFileSync(file, form.text);
  } catch (error) {
    return [`${file}: not written: ${fileProblem(error)}`];
  }
  return [`${file}: rewritten as ${what}`];
}

function errorsIn(file: string, host: Host): number {
  const { findings } = checkInput([file], host, false);
  return findings.filter(({ severity }) => severity === "error").length;
}

/** Lists every difference: those that need an edit of configurations first. */
function allChanges(compared: ReadonlyMap<string, ComparedSchemas> | undefined): CommandResult {
  if (compared === undefined)
    return { exitCode: 2, stderr: 'error: "--all" requires "--from SCHEMA"\n' };
  const changes = [...compared].flatMap(([form, schemas]) =>
    [...Map.groupBy(schemas.all(), sameChange).values()].map(([first, ...others]) => {
      const more =
        others.length === 0
          ? ""
          : ` and ${others.length} other place${others.length === 1 ? "" : "s"}`;
      const line = `- \`${first?.path}\`${more} of ${form}: ${first?.change.text}`;
      return { line, needsAction: first?.change.needsAction };
    }),
  );
  const section = (title: string, needsAction: boolean) => {
    const lines = changes.filter((each) => each.needsAction === needsAction);
    return lines.length === 0 ? [] : [`### ${title}`, "", ...lines.map(({ line }) => line), ""];
  };
  const text = [
    ...section("Fields that may need an edit", true),
    ...section("Other fields", false),
  ];
  return { exitCode: 0, stdout: text.length === 0 ? "no field changed\n" : text.join("\n") };
}

/** Identifies a change of one field that several sections have: `policies.cors`. */
function sameChange({ path: place, change }: PlacedChange): string {
  return `${place.split(".").slice(-2).join(".")}: ${change.text}`;
}
