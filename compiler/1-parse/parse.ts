import { createHash } from "node:crypto";
import path from "node:path";
import { isMap } from "yaml";
import {
  type ConfigPath,
  Diagnostics,
  type Origin,
  type WithDiagnostics,
} from "../diagnostics/diagnostic.ts";
import type { InlinedPlaces } from "../diagnostics/inlined-places.ts";
import type { SourceDocument, SourceFile } from "../diagnostics/source.ts";
import type { Host } from "../host.ts";
import type { Manifest } from "../manifests/manifests.ts";
import type { ConfigValue } from "../schema/config-values.ts";
import { unknownNames } from "../schema/unknown-names.ts";
import { ReusableValidator } from "../schema/validate.ts";
import { withCustomFunctions } from "./custom-functions.ts";
import { withoutIgnored } from "./ignored-fields.ts";
import { inputFiles, isEmpty } from "./input-files.ts";
import { type ReadDocument, readManifests, withoutSecrets } from "./kubernetes/manifests.ts";
import { reportUnnamed } from "./kubernetes/unnamed-manifests.ts";
import {
  type CachedInput,
  type DocumentForm,
  type ReadFile,
  readFiles,
  reportOtherTool,
} from "./read-files.ts";
import { type StandaloneFile, standaloneSchema } from "./standalone/standalone.ts";
import { canonicalJson, readValue, withoutValues } from "./values.ts";

/** The parsed input in one of the two forms, with unresolved references. */
export type Parsed = InputFiles & (StandaloneInput | KubernetesInput);

/** The files that were read. */
export interface InputFiles {
  readonly files: readonly SourceFile[];
  readonly inputs: readonly InputDigest[];
  /** Folder that file names in the configuration are relative to. */
  readonly folder: string;
}

/** Digest of the content of a file. */
export interface InputDigest {
  readonly name: string;
  /** Returns the SHA-256 in hex, without the values at these places. */
  readonly sha256: (hidden: readonly Origin[]) => string;
}

/** A standalone file. */
export interface StandaloneInput {
  readonly kind: "standalone";
  /** Parts with mistakes (reported) are removed or have placeholders. */
  readonly file: StandaloneFile;
  readonly origin: Origin;
  /** The paths of those parts. */
  readonly broken: readonly ConfigPath[];
  /** Whether the value at a path may name something that is declared in one of those parts. */
  readonly isUnknownName: (path: ConfigPath) => boolean;
  /** Expressions that called functions of the file; absent if it has none. */
  readonly inlined?: InlinedPlaces | undefined;
}

/** Kubernetes manifests. */
export interface KubernetesInput {
  readonly kind: "kubernetes";
  readonly manifests: readonly Manifest[];
  /** Returns the manifests with placeholders for the parts that have mistakes. */
  readonly repaired: () => readonly Manifest[];
  /** Whether messages that follow from parts with mistakes are dropped. */
  readonly isMarked?: boolean;
}

/**
 * Reads the input: files, the YAML and JSON files of folders, `-` for standard input. Every readable file is in
 * `files`, even with mistakes, for printing them. Mistakes do not stop later phases from checking the rest, so that one
 * run finds all of them. `cached` holds the results of unchanged files.
 */
export function parse(
  paths: readonly string[],
  host: Host,
  cached?: CachedInput,
): WithDiagnostics<Parsed> & { readonly files: readonly SourceFile[] } {
  const diagnostics = new Diagnostics();
  const given = inputFiles(paths, host);
  const named = new Set(given.filter(({ isNamed }) => isNamed).map((file) => file.path));
  const read = readFiles(
    given.map((file) => file.path),
    host,
    diagnostics,
    cached,
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
    const { manifests, repaired } = readManifests(documents, diagnostics, cached?.manifests);
    // References may lead to files that cannot be read.
    if (isIncomplete) return result(undefined);
    const byFile = Map.groupBy(documents, ({ origin }) => origin.file);
    const inputs = readable
      .filter(hasManifests)
      .map(({ source: { name } }) => inputOf(name, manifestDigest, () => byFile.get(name) ?? []));
    return result({ kind: "kubernetes", manifests, repaired, files, inputs, folder });
  }
  const inputs = meant.map(({ source, plain }) => inputOf(source.name, contentDigest, plain));
  const standalone = readStandalone(
    readable.map(({ source }) => source),
    host,
    diagnostics,
    cached,
  );
  return result(standalone && { ...standalone, files, inputs, folder });
}

/**
 * Selects the files of the gateway. Empty files are used only if there are no others. In a folder without manifests
 * only standalone files are used, because other tools store YAML and JSON there too.
 */
function meantFiles(read: readonly ReadFile[], named: ReadonlySet<string>): readonly ReadFile[] {
  // The form of an unreadable file is unknown, so it is always included.
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

/** Reports documents among manifests that are not manifests: an error if the user named the file, otherwise a note. */
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

/** Returns which of the two identifying fields a manifest lacks; `undefined` if the document is not a manifest. */
function missingHead(document: SourceDocument | undefined): string | undefined {
  const contents = document?.yaml.contents;
  if (!isMap(contents) || !contents.has("metadata")) return undefined;
  return ["apiVersion", "kind"].find((key) => !contents.has(key));
}

function readStandalone(
  files: readonly SourceFile[],
  host: Host,
  diagnostics: Diagnostics,
  cached: CachedInput | undefined,
): StandaloneInput | undefined {
  for (const { name, path: file } of files.slice(1)) {
    const at = { file: name, document: 0, path: [], part: "file" } as const;
    diagnostics.report("several-files", at, { file });
  }
  return files.flatMap((file) => readFile(file, host, diagnostics, cached) ?? []).at(0);
}

function readFile(
  file: SourceFile,
  host: Host,
  diagnostics: Diagnostics,
  cached: CachedInput | undefined,
): StandaloneInput | undefined {
  // Without cached nodes, each access parses them again.
  const { documents } = file;
  const [document, second] = documents.filter((each) => !isEmpty(each));
  const origin = {
    file: file.name,
    document: document ? documents.indexOf(document) : 0,
    path: [],
  };
  if (document === undefined) {
    diagnostics.report("empty-file", { ...origin, part: "file" }, { file: file.path });
    return undefined;
  }
  if (second !== undefined) {
    const start = second.yaml.contents?.range?.[0] ?? 0;
    const at = { ...origin, document: documents.indexOf(second) };
    diagnostics.report("several-documents", { ...at, offsets: [start, start] }, {});
    return undefined;
  }
  if (reportOtherTool(file, diagnostics)) return undefined;
  const known = cached?.standalone ?? new ReusableValidator(standaloneSchema());
  if (cached !== undefined) cached.standalone = known;
  const { schema } = known;
  const given = readValue(document, origin, schema, host, diagnostics);
  const accepted = withoutIgnored(given, schema, origin, diagnostics);
  const { read, inlined } = withCustomFunctions(accepted, schema, origin, diagnostics);
  const { repaired } = known.for([read.value]);
  const { value, broken } = repaired(read, origin, diagnostics);
  const isUnknownName = unknownNames(read.value, schema, broken);
  return value && { kind: "standalone", file: value, origin, broken, isUnknownName, inlined };
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

/**
 * Computes a digest of the content of a file rather than of its bytes: comments and quotes do not affect the output.
 */
function contentDigest(documents: readonly ConfigValue[]): string {
  return createHash("sha256").update(documents.map(canonicalJson).join("\n")).digest("hex");
}

/** Computes a digest of manifests, whose order is irrelevant, without the values of Secrets. */
function manifestDigest(documents: readonly ConfigValue[]): string {
  const texts = documents.map((value) => canonicalJson(withoutSecrets(value)));
  return createHash("sha256").update(texts.sort().join("\n")).digest("hex");
}
