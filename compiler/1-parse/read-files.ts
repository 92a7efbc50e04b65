import path from "node:path";
import { isMap } from "yaml";
import { type Diagnostic, Diagnostics } from "../diagnostics/diagnostic.ts";
import type { SourceDocument, SourceFile } from "../diagnostics/source.ts";
import type { Host } from "../host.ts";
import { KeptByObject, KeptResults } from "../kept-results.ts";
import { readDocuments } from "./documents.ts";
import { isEmpty, isSchema, isStandalone } from "./input-files.ts";
import type { ReadDocument, ReadManifests } from "./kubernetes/manifests.ts";
import { otherTool } from "./other-tools.ts";
import { plainValue } from "./values.ts";

/** A file as it was read. */
export interface ReadFile {
  readonly source: SourceFile;
  /** The mistakes of its YAML. */
  readonly found: readonly Diagnostic[];
  /** What it says is not known: nothing of it is looked at. */
  readonly isBroken: boolean;
  /** What each of its documents is. */
  readonly forms: readonly DocumentForm[];
  /** Its documents as data. */
  readonly plain: () => readonly ReadDocument[];
}

/** What a document is, by its looks. */
export type DocumentForm = "empty" | "schema" | "manifest" | "standalone" | "other";

/** What reading one input leaves to the next: files that did not change are not read again, nor what they say. */
export class KeptInput {
  readonly files = new KeptResults<ReadFile>();
  readonly manifests = new KeptByObject<ReadDocument, ReadManifests>();
}

/** Reads files; those that can't be read are reported. `kept`: those that did not change are as they were. */
export function readFiles(
  paths: readonly string[],
  host: Host,
  diagnostics: Diagnostics,
  kept: KeptInput | undefined,
): readonly ReadFile[] {
  const names = stableNames(paths);
  return paths.flatMap((file, index) => {
    const text = host.readText(file);
    if (text.kind === "text") {
      const name = names[index] ?? file;
      const read = () =>
        text.isDamaged ? damaged(name, file, text.text) : readOne(name, file, text.text);
      const one =
        kept?.files.of(`${name}\n${file}`, text.text, () => withoutNodes(read())) ?? read();
      // What is no YAML to begin with is told by what it is, not by where reading stopped.
      if (one.found.length > 0 && !reportOtherTool(one.source, diagnostics))
        for (const each of one.found) diagnostics.add(each);
      return [one];
    }
    const at = { file, document: 0, path: [], part: "file" } as const;
    diagnostics.report("file-not-found", at, { file, problem: text.problem });
    return [];
  });
}

/** The documents of a file as data. */
export function plainDocuments({ name, documents }: SourceFile): readonly ReadDocument[] {
  return documents.map((document, index) => ({
    value: plainValue(document),
    origin: { file: name, document: index, path: [] },
  }));
}

/** Whether a file was written for something else, which is reported. */
export function reportOtherTool(file: SourceFile, diagnostics: Diagnostics): boolean {
  const other = otherTool(file);
  if (other === undefined) return false;
  const at = { file: file.name, document: 0, path: [], part: "file" } as const;
  const { what, isImported, advice } = other;
  const importing = isImported && `\`gwc import ${file.name}\` makes a gateway.yaml of it`;
  diagnostics.report("other-tool", at, { what, advice: importing || advice });
  return true;
}

function readOne(name: string, file: string, text: string): ReadFile {
  const found = new Diagnostics();
  const source = readDocuments(name, file, text, found);
  const forms = source.documents.map(formOf);
  // What stands twice is said there, and the rest can be read all the same.
  const isBroken = found.list.some(({ code }) => code !== "duplicate-key");
  return { source, found: found.list, isBroken, forms, plain: () => plainDocuments(source) };
}

/** A file whose text is not what was written: what its YAML says is not asked. */
function damaged(name: string, file: string, text: string): ReadFile {
  const found = new Diagnostics();
  const start = text.indexOf("\uFFFD");
  const at = { file: name, document: 0, path: [], offsets: [start, start + 1] } as const;
  found.report("not-utf8", at, {});
  const source = { name, path: file, text, documents: [], data: [] };
  return { source, found: found.list, isBroken: true, forms: [], plain: () => [] };
}

/** The same, with its data, and without the nodes of its YAML, which have many times their size: who asks reads it again. */
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
