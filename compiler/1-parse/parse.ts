import { createHash } from "node:crypto";
import path from "node:path";
import { isMap } from "yaml";
import {
  type ConfigPath,
  type Diagnostic,
  Diagnostics,
  type Origin,
  type WithDiagnostics,
} from "../diagnostics/diagnostic.ts";
import type { SourceDocument, SourceFile } from "../diagnostics/source.ts";
import type { Host } from "../host.ts";
import type { KeptResults } from "../kept-results.ts";
import type { Manifest } from "../manifests/manifests.ts";
import type { ConfigValue } from "../schema/config-values.ts";
import { validator } from "../schema/validate.ts";
import { readDocuments } from "./documents.ts";
import { inputFiles, isEmpty, isInput, isStandalone } from "./input-files.ts";
import { type ReadDocument, readManifests, withoutSecrets } from "./kubernetes/manifests.ts";
import { otherTool } from "./other-tools.ts";
import { type StandaloneFile, standaloneSchema } from "./standalone/standalone.ts";
import { canonicalJson, plainValue, readValue, withoutValues } from "./values.ts";

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

/** A file, and the mistakes of its YAML. */
export interface ReadFile {
  readonly source: SourceFile;
  readonly found: readonly Diagnostic[];
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
  kept?: KeptResults<ReadFile>,
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
  const files = meantFiles(read, named);
  const result = (value: Parsed | undefined) => ({ value, files, diagnostics: diagnostics.list });
  if (diagnostics.list.length > 0) return result(undefined);
  if (files.length === 0) {
    const at = { file: paths[0] ?? ".", document: 0, path: [], part: "file" } as const;
    diagnostics.report("no-input", at, { folders: paths });
    return result(undefined);
  }
  const folder = path.dirname(files[0]?.path ?? ".");
  if (files.some((file) => file.documents.some(isManifest))) {
    reportOthers(files, named, diagnostics);
    const documents = files.flatMap(readPlain);
    const manifests = readManifests(documents, diagnostics);
    const byFile = Map.groupBy(documents, ({ origin }) => origin.file);
    const inputs = files
      .filter((file) => file.documents.some(isManifest))
      .map(({ name }) => inputOf(name, manifestDigest, () => byFile.get(name) ?? []));
    return result({ kind: "kubernetes", manifests, files, inputs, folder });
  }
  const inputs = files.map((file) => inputOf(file.name, contentDigest, () => readPlain(file)));
  const standalone = readStandalone(files, host, diagnostics);
  return result(standalone && { ...standalone, files, inputs, folder });
}

function readFiles(
  paths: readonly string[],
  host: Host,
  diagnostics: Diagnostics,
  kept: KeptResults<ReadFile> | undefined,
): readonly SourceFile[] {
  const names = stableNames(paths);
  return paths.flatMap((file, index) => {
    const text = host.readText(file);
    if (text.kind === "text") {
      const name = names[index] ?? file;
      const read = () => readOne(name, file, text.text);
      const { source, found } = kept?.of(`${name}\n${file}`, text.text, read) ?? read();
      // What is no YAML to begin with is told by what it is, not by where reading stopped.
      if (found.length > 0 && !reportOtherTool(source, diagnostics))
        for (const each of found) diagnostics.add(each);
      return [source];
    }
    const at = { file, document: 0, path: [], part: "file" } as const;
    diagnostics.report("file-not-found", at, { file, problem: text.problem });
    return [];
  });
}

function readOne(name: string, file: string, text: string): ReadFile {
  const found = new Diagnostics();
  return { source: readDocuments(name, file, text, found), found: found.list };
}

/**
 * The files that a gateway is made of. What has no content counts only when there is nothing else; of a folder without
 * manifests only standalone files count: other tools keep their YAML and JSON there, too.
 */
function meantFiles(
  read: readonly SourceFile[],
  named: ReadonlySet<string>,
): readonly SourceFile[] {
  const isNamed = ({ path: file }: SourceFile) => named.has(file);
  const files = read.filter((file) => isInput(file) || isNamed(file));
  const filled = files.filter((file) => !file.documents.every(isEmpty));
  const left = filled.length > 0 ? filled : files;
  if (left.some((file) => file.documents.some(isManifest))) return left;
  const standalone = left.filter((file) => isNamed(file) || file.documents.some(isStandalone));
  return standalone.length > 0 ? standalone : left;
}

function readPlain({ name, documents }: SourceFile): readonly ReadDocument[] {
  return documents.map((document, index) => ({
    value: plainValue(document),
    origin: { file: name, document: index, path: [] },
  }));
}

function isManifest(document: SourceDocument): boolean {
  const { contents } = document.yaml;
  return isMap(contents) && contents.has("apiVersion") && contents.has("kind");
}

/** Documents beside manifests that are none: a mistake when the user named the file, else only worth a note. */
function reportOthers(
  files: readonly SourceFile[],
  named: ReadonlySet<string>,
  diagnostics: Diagnostics,
): void {
  for (const file of files) {
    file.documents.forEach((document, index) => {
      if (isEmpty(document) || isManifest(document)) return;
      const at = { file: file.name, document: index, path: [] };
      if (named.has(file.path)) diagnostics.report("mixed-forms", at, {});
      else if (!file.path.endsWith(".json"))
        diagnostics.report("skipped-kind", at, { kind: "a document without apiVersion and kind" });
    });
  }
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

/** Whether a file was written for something else, which is reported. */
function reportOtherTool(file: SourceFile, diagnostics: Diagnostics): boolean {
  const other = otherTool(file);
  if (other === undefined) return false;
  const at = { file: file.name, document: 0, path: [], part: "file" } as const;
  diagnostics.report("other-tool", at, { what: other.what, advice: other.advice });
  return true;
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

/** Names of the inputs in generated text: relative to their common folder, so that they say nothing of the machine. */
function stableNames(paths: readonly string[]): string[] {
  const absolute = paths.map((file) => path.resolve(file === "-" ? "stdin" : file).split(path.sep));
  const folders = absolute.map((steps) => steps.slice(0, -1));
  const [first = []] = folders;
  let common = 0;
  while (common < first.length && folders.every((steps) => steps[common] === first[common]))
    common++;
  return absolute.map((steps) => steps.slice(common).join("/"));
}
