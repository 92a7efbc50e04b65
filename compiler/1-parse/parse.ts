import { createHash } from "node:crypto";
import path from "node:path";
import { Diagnostics, type Outcome } from "../diagnostics.ts";
import type { Host } from "../host.ts";
import type { ProgramInput } from "../ir.ts";
import type { Resource } from "../resources.ts";
import type { Schema } from "../schema.ts";
import type { SourceFile } from "../source.ts";
import { readDocuments } from "./documents.ts";
import { gatewayName } from "./gateway-name.ts";
import { standaloneSchema } from "./schemas/standalone.ts";
import { readStandalone } from "./standalone.ts";
import { type Validator, validator } from "./validate.ts";
import { canonicalText, readValue, withLateTexts } from "./values.ts";

/** What the input says, before anything is looked up. */
export interface Parsed {
  readonly resources: readonly Resource[];
  readonly files: readonly SourceFile[];
  readonly inputs: readonly ProgramInput[];
}

/** Reads the input files. Every file that could be read is in `files` even when it has mistakes, for printing them. */
export function parse(
  paths: readonly string[],
  host: Host,
): Outcome<Parsed> & { readonly files: readonly SourceFile[] } {
  const diagnostics = new Diagnostics();
  const names = stableNames(paths);
  const files: SourceFile[] = [];
  const inputs: ProgramInput[] = [];
  paths.forEach((file, index) => {
    const name = names[index] ?? file;
    const text = host.readText(file);
    if (text.kind === "problem") {
      diagnostics.report(
        "file-not-found",
        { file, document: 0, path: [], part: "file" },
        { file, problem: text.problem },
      );
      return;
    }
    const source = readDocuments(name, file, text.text, diagnostics);
    files.push(source);
    if (diagnostics.list.length === 0) inputs.push({ name, sha256: contentDigest(source) });
  });
  const resources =
    diagnostics.list.length === 0 ? readResources(files, host, diagnostics) : undefined;
  return { value: resources && { resources, files, inputs }, files, diagnostics: diagnostics.list };
}

function readResources(
  files: readonly SourceFile[],
  host: Host,
  diagnostics: Diagnostics,
): readonly Resource[] | undefined {
  const schema = standaloneSchema();
  const validate = validator(schema);
  const resources = files.flatMap((file) => readFile(file, schema, validate, host, diagnostics));
  return diagnostics.list.some(({ code }) => code !== "literal-secret") ? undefined : resources;
}

function readFile(
  file: SourceFile,
  schema: Schema,
  validate: Validator,
  host: Host,
  diagnostics: Diagnostics,
): readonly Resource[] {
  const [document, second] = file.documents;
  const origin = { file: file.name, document: 0, path: [] };
  if (document === undefined || document.yaml.contents === null) {
    diagnostics.report("empty-file", { ...origin, part: "file" }, { file: file.path });
    return [];
  }
  if (second !== undefined) {
    const start = second.yaml.contents?.range?.[0] ?? 0;
    diagnostics.report(
      "several-documents",
      { ...origin, document: 1, offsets: [start, start] },
      {},
    );
    return [];
  }
  const read = readValue(document, origin, schema, host, diagnostics);
  const before = diagnostics.list.length;
  if (!validate(read.value, origin, diagnostics) || diagnostics.list.length > before) return [];
  return readStandalone(withLateTexts(read), gatewayName([file.path]), origin, diagnostics);
}

/** A digest of what a file says rather than of its bytes: comments and quoting don't change what is compiled. */
function contentDigest({ documents }: SourceFile): string {
  return createHash("sha256").update(documents.map(canonicalText).join("\n")).digest("hex");
}

/** Names of the inputs in generated text: relative to their common folder, so that they say nothing of the machine. */
function stableNames(paths: readonly string[]): string[] {
  const absolute = paths.map((file) => path.resolve(file).split(path.sep));
  const folders = absolute.map((steps) => steps.slice(0, -1));
  const [first = []] = folders;
  let common = 0;
  while (common < first.length && folders.every((steps) => steps[common] === first[common]))
    common++;
  return absolute.map((steps) => steps.slice(common).join("/"));
}
