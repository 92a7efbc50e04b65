import path from "node:path";
import { isMap } from "yaml";
import { CachedByObject, CachedResults } from "../cached-results.ts";
import { type Diagnostic, Diagnostics } from "../diagnostics/diagnostic.ts";
import type { SourceDocument, SourceFile } from "../diagnostics/source.ts";
import type { Host } from "../host.ts";
import { readDocuments } from "./documents.ts";
import { isEmpty, isSchema, isStandalone } from "./input-files.ts";
import type { ReadDocument, ReadManifests } from "./kubernetes/manifests.ts";
import { otherTool } from "./other-tools.ts";
import { plainValue } from "./values.ts";

/** A file that was read. */
export interface ReadFile {
  readonly source: SourceFile;
  /** Mistakes in its YAML. */
  readonly found: readonly Diagnostic[];
  /** Whether its content is unknown, so that nothing in it is checked. */
  readonly isBroken: boolean;
  /** Form of each of its documents. */
  readonly forms: readonly DocumentForm[];
  /** Returns its documents as data. */
  readonly plain: () => readonly ReadDocument[];
}

/** Form of a document, by its keys. */
export type DocumentForm = "empty" | "schema" | "manifest" | "standalone" | "other";

/** Cached results of reading an input: unchanged files are neither read nor validated again. */
export class CachedInput {
  readonly files = new CachedResults<ReadFile>();
  readonly manifests = new CachedByObject<ReadDocument, ReadManifests>();
}

/** Reads files and reports those that cannot be read. `cached` holds the results of unchanged files. */
export function readFiles(
  paths: readonly string[],
  host: Host,
  diagnostics: Diagnostics,
  cached: CachedInput | undefined,
): readonly ReadFile[] {
  const names = stableNames(paths);
  return paths.flatMap((file, index) => {
    const text = host.readText(file);
    if (text.kind === "text") {
      const name = names[index] ?? file;
      const read = () =>
        text.isDamaged ? damaged(name, file, text.text) : readOne(name, file, text.text);
      const one =
        cached?.files.of(`${name}\n${file}`, text.text, () => withoutNodes(read())) ?? read();
      // A file of another tool is reported as such, rather than by its first YAML mistake.
      if (one.found.length > 0 && !reportOtherTool(one.source, diagnostics))
        for (const each of one.found) diagnostics.add(each);
      return [one];
    }
    const at = { file, document: 0, path: [], part: "file" } as const;
    diagnostics.report("file-not-found", at, { file, problem: text.problem });
    return [];
  });
}

/** Returns the documents of a file as data. */
export function plainDocuments({ name, documents }: SourceFile): readonly ReadDocument[] {
  return documents.map((document, index) => ({
    value: plainValue(document),
    origin: { file: name, document: index, path: [] },
  }));
}

/** Reports a file that was written for another tool; returns whether it was. */
export function reportOtherTool(file: SourceFile, diagnostics: Diagnostics): boolean {
  const other = otherTool(file);
  if (other === undefined) return false;
  const at = { file: file.name, document: 0, path: [], part: "file" } as const;
  const { what, isImported, advice } = other;
  const importing = isImported && `convert it with \`gwc import ${file.name}\``;
  diagnostics.report("other-tool", at, { what, advice: importing || advice });
  return true;
}

function readOne(name: string, file: string, text: string): ReadFile {
  const found = new Diagnostics();
  const source = readDocuments(name, file, text, found);
  const forms = source.documents.map(formOf);
  // A repeated key is reported, and the rest of the file can still be read.
  const isBroken = found.list.some(({ code }) => code !== "duplicate-key");
  return { source, found: found.list, isBroken, forms, plain: () => plainDocuments(source) };
}

/** Returns a file that is not valid UTF-8, without parsing its YAML. */
function damaged(name: string, file: string, text: string): ReadFile {
  const found = new Diagnostics();
  const start = text.indexOf("\uFFFD");
  const at = { file: name, document: 0, path: [], offsets: [start, start + 1] } as const;
  found.report("not-utf8", at, {});
  const source = { name, path: file, text, documents: [], data: [] };
  return { source, found: found.list, isBroken: true, forms: [], plain: () => [] };
}

/**
 * Returns the file with its data but without YAML nodes, which take many times the memory; they are parsed again when
 * needed.
 */
function withoutNodes({ source, found, isBroken, forms }: ReadFile): ReadFile {
  const { name, path: file, text } = source;
  const documents = isBroken ? [] : plainDocuments(source);
  const lean: SourceFile = {
    ...{ name, path: file, text, data: documents.map(({ value }) => value) },
    get documents() {
      return readDocuments(name, file, text, new Diagnostics()).documents;
    },
  };
  return { source: lean, found, isBroken, forms, plain: () => documents };
}

function formOf(document: SourceDocument): DocumentForm {
  if (isEmpty(document)) return "empty";
  if (isSchema(document)) return "schema";
  const { contents } = document.yaml;
  if (isMap(contents) && contents.has("apiVersion") && contents.has("kind")) return "manifest";
  return isStandalone(document) ? "standalone" : "other";
}

/**
 * Returns names of the inputs for generated code: relative to their common folder, so that they reveal nothing about
 * the machine.
 */
function stableNames(paths: readonly string[]): string[] {
  const absolute = paths.map((file) => path.resolve(file === "-" ? "stdin" : file).split(path.sep));
  const folders = absolute.map((steps) => steps.slice(0, -1));
  const [first = []] = folders;
  let common = 0;
  while (common < first.length && folders.every((steps) => steps[common] === first[common]))
    common++;
  return absolute.map((steps) => steps.slice(common).join("/"));
}
