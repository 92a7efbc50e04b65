import { createHash } from "node:crypto";
import path from "node:path";
import { isMap } from "yaml";
import {
  type ConfigPath,
  Diagnostics,
  type Origin,
  type WithDiagnostics,
} from "../diagnostics/diagnostic.ts";
import type { SourceDocument, SourceFile } from "../diagnostics/source.ts";
import type { Host } from "../host.ts";
import type { Manifest } from "../manifests/manifests.ts";
import type { ConfigValue } from "../schema/config-values.ts";
import { validator } from "../schema/validate.ts";
import { inputFiles, isEmpty } from "./input-files.ts";
import { type ReadDocument, readManifests, withoutSecrets } from "./kubernetes/manifests.ts";
import { reportUnnamed } from "./kubernetes/unnamed-manifests.ts";
import {
  type DocumentForm,
  type KeptInput,
  plainDocuments,
  type ReadFile,
  readFiles,
  reportOtherTool,
} from "./read-files.ts";
import { type StandaloneFile, standaloneSchema } from "./standalone/standalone.ts";
import { canonicalJson, readValue, withoutValues } from "./values.ts";

/** What the input says, before anything is looked up: one of the two forms. */
export type Parsed = InputFiles & (StandaloneInput | KubernetesInput);

/** The files that were read. */
export interface InputFiles {
  readonly files: readonly SourceFile[];
  readonly inputs: readonly InputDigest[];
  /** The folder that file names of the configuration start from. */
  readonly folder: string;
}

/** What a file says, as a digest. */
export interface InputDigest {
  readonly name: string;
  /** SHA-256, hex, without the values at these places. */
  readonly sha256: (hidden: readonly Origin[]) => string;
}

/** A standalone file. */
export interface StandaloneInput {
  readonly kind: "standalone";
  /** Without the parts that have mistakes (reported). */
  readonly file: StandaloneFile;
  readonly origin: Origin;
  /** Where the left-out parts stood. */
  readonly broken: readonly ConfigPath[];
}

/** Kubernetes manifests. */
export interface KubernetesInput {
  readonly kind: "kubernetes";
  readonly manifests: readonly Manifest[];
}

/**
 * Reads the input: files, the YAML and JSON files of folders, `-` for standard input. Every file that could be read is
 * in `files` even when it has mistakes, for printing them. What has mistakes is left out, and does not keep the rest from
 * being looked up: all of them are found in one run. `kept`: files that did not change are not read again.
 */
export function parse(
  paths: readonly string[],
  host: Host,
  kept?: KeptInput,
): WithDiagnostics<Parsed> & { readonly files: readonly SourceFile[] } {
  const diagnostics = new Diagnostics();
  const given = inputFiles(paths, host);
  const named = new Set(given.filter(({ isNamed }) => isNamed).map((file) => file.path));
  const read = readFiles(
    given.map((file) => file.path),
    host,
    diagnostics,
    kept,
  );
  const meant = meantFiles(read, named);
  const files = meant.map(({ source }) => source);
  const isIncomplete = read.length < given.length || meant.some(({ isBroken }) => isBroken);
  const result = (value: Parsed | undefined) => ({ value, files, diagnostics: diagnostics.list });
  if (files.length === 0) {
    if (isIncomplete) return result(undefined);
    const at = { file: paths[0] ?? ".", document: 0, path: [], part: "file" } as const;
    diagnostics.report("no-input", at, { folders: paths });
    return result(undefined);
  }
  const folder = path.dirname(files[0]?.path ?? ".");
  const readable = meant.filter(({ isBroken }) => !isBroken);
  if (readable.some(hasManifests)) {
    reportOthers(readable, named, diagnostics);
    const documents = readable.flatMap(({ plain }) => plain());
    reportUnnamed(documents, diagnostics);
    const manifests = readManifests(documents, diagnostics, kept?.manifests);
    // What they name may stand in the files that can't be read.
    if (isIncomplete) return result(undefined);
    const byFile = Map.groupBy(documents, ({ origin }) => origin.file);
    const inputs = readable
      .filter(hasManifests)
      .map(({ source: { name } }) => inputOf(name, manifestDigest, () => byFile.get(name) ?? []));
    return result({ kind: "kubernetes", manifests, files, inputs, folder });
  }
  const inputs = files.map((file) => inputOf(file.name, contentDigest, () => plainDocuments(file)));
  const standalone = readStandalone(
    readable.map(({ source }) => source),
    host,
    diagnostics,
  );
  return result(standalone && { ...standalone, files, inputs, folder });
}

/**
 * The files that a gateway is made of. What has no content counts only when there is nothing else; of a folder without
 * manifests only standalone files count: other tools keep their YAML and JSON there, too.
 */
function meantFiles(read: readonly ReadFile[], named: ReadonlySet<string>): readonly ReadFile[] {
  // Nobody knows what a file would be that can't be read, so none is left out.
  const isMeant = ({ source, isBroken }: ReadFile) => isBroken || named.has(source.path);
  const files = read.filter((file) => isMeant(file) || file.forms.some((form) => isContent(form)));
  const filled = files.filter((file) => file.isBroken || !file.forms.every(isEmptyForm));
  const left = filled.length > 0 ? filled : files;
  if (left.some(hasManifests)) return left;
  const standalone = left.filter((file) => isMeant(file) || file.forms.includes("standalone"));
  return standalone.length > 0 ? standalone : left;
}

function isEmptyForm(form: DocumentForm): boolean {
  return form === "empty";
}

function isContent(form: DocumentForm): boolean {
  return form !== "empty" && form !== "schema";
}

function hasManifests({ forms }: ReadFile): boolean {
  return forms.includes("manifest");
}

/** Documents beside manifests that are none: a mistake when the user named the file, else only worth a note. */
function reportOthers(
  files: readonly ReadFile[],
  named: ReadonlySet<string>,
  diagnostics: Diagnostics,
): void {
  for (const { forms, source } of files) {
    forms.forEach((form, index) => {
      if (form === "empty" || form === "manifest") return;
      const at = { file: source.name, document: index, path: [] };
      const missing = missingHead(source.documents[index]);
      if (missing !== undefined)
        diagnostics.report("missing-field", at, { owner: "the document", key: missing });
      else if (named.has(source.path)) diagnostics.report("mixed-forms", at, {});
      else if (!source.path.endsWith(".json"))
        diagnostics.report("skipped-kind", at, { kind: "a document without apiVersion and kind" });
    });
  }
}

/** What a document lacks to be a manifest, of the two words that say which one it is. */
function missingHead(document: SourceDocument | undefined): string | undefined {
  const contents = document?.yaml.contents;
  if (!isMap(contents) || !contents.has("metadata")) return undefined;
  return ["apiVersion", "kind"].find((key) => !contents.has(key));
}

function readStandalone(
  files: readonly SourceFile[],
  host: Host,
  diagnostics: Diagnostics,
): StandaloneInput | undefined {
  for (const { name, path: file } of files.slice(1)) {
    const at = { file: name, document: 0, path: [], part: "file" } as const;
    diagnostics.report("several-files", at, { file });
  }
  return files.flatMap((file) => readFile(file, host, diagnostics) ?? []).at(0);
}

function readFile(
  file: SourceFile,
  host: Host,
  diagnostics: Diagnostics,
): StandaloneInput | undefined {
  const [document, second] = file.documents.filter((each) => !isEmpty(each));
  const origin = {
    file: file.name,
    document: document ? file.documents.indexOf(document) : 0,
    path: [],
  };
  if (document === undefined) {
    diagnostics.report("empty-file", { ...origin, part: "file" }, { file: file.path });
    return undefined;
  }
  if (second !== undefined) {
    const start = second.yaml.contents?.range?.[0] ?? 0;
    const at = { ...origin, document: file.documents.indexOf(second) };
    diagnostics.report("several-documents", { ...at, offsets: [start, start] }, {});
    return undefined;
  }
  if (reportOtherTool(file, diagnostics)) return undefined;
  const schema = standaloneSchema();
  const read = readValue(document, origin, schema, host, diagnostics);
  const { value, broken } = validator(schema, [read.value]).parts(read, origin, diagnostics);
  return value && { kind: "standalone", file: value, origin, broken };
}

function inputOf(
  name: string,
  digest: (documents: readonly ConfigValue[]) => string,
  read: () => readonly ReadDocument[],
): InputDigest {
  const without = (hidden: readonly Origin[]) =>
    read().map(({ value, origin }) => withoutValues(value, pathsIn(origin, hidden)));
  return { name, sha256: (hidden) => digest(without(hidden)) };
}

function pathsIn({ file, document }: Origin, places: readonly Origin[]): readonly ConfigPath[] {
  return places.flatMap((at) => (at.file === file && at.document === document ? [at.path] : []));
}

/** A digest of what a file says rather than of its bytes: comments and quoting don't change what is compiled. */
function contentDigest(documents: readonly ConfigValue[]): string {
  return createHash("sha256").update(documents.map(canonicalJson).join("\n")).digest("hex");
}

/** The same of manifests, whose order says nothing, without the values of Secrets. */
function manifestDigest(documents: readonly ConfigValue[]): string {
  const texts = documents.map((value) => canonicalJson(withoutSecrets(value)));
  return createHash("sha256").update(texts.sort().join("\n")).digest("hex");
}
