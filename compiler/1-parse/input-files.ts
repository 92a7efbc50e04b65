import path from "node:path";
import { isMap, isScalar } from "yaml";
import type { SourceDocument } from "../diagnostics/source.ts";
import type { Host } from "../host.ts";

/** A file of the input. */
export interface InputFile {
  readonly path: string;
  /** The user gave the file itself, not a folder that it is in. */
  readonly isNamed: boolean;
}

/** The files that the user gave, and the YAML and JSON files of folders but for tests, locks and those that gwc wrote. */
export function inputFiles(paths: readonly string[], host: Host): readonly InputFile[] {
  return paths.flatMap((given): readonly InputFile[] => {
    const inside = host.filesIn(given);
    if (inside === undefined) return [{ path: given, isNamed: true }];
    const written = new Set(
      inside
        .filter((file) => path.basename(file) === "manifest.json")
        .flatMap((file) => writtenFiles(file, host)),
    );
    return inside
      .filter((file) => !written.has(path.normalize(file)) && !isTestFile(file) && !isLock(file))
      .map((file) => ({ path: file, isNamed: false }));
  });
}

/** Whether a file of a folder says what a gateway should do, for `gwc test`: by its name. */
export function isTestFile(file: string): boolean {
  return /\.test\.ya?ml$/.test(file);
}

/** Whether a file of a folder says which tools are approved, by its name. */
function isLock(file: string): boolean {
  return /\.lock\.ya?ml$/.test(file);
}

/** What a `manifest.json` says that a build wrote, with itself; nothing when it is no manifest of gwc. */
function writtenFiles(manifest: string, host: Host): readonly string[] {
  const read = host.readText(manifest);
  if (read.kind === "problem") return [];
  try {
    const value: unknown = JSON.parse(read.text);
    if (typeof value !== "object" || value === null || !("gwc" in value) || !("files" in value))
      return [];
    return [value.files]
      .flat()
      .filter((name): name is string => typeof name === "string")
      .map((name) => path.join(path.dirname(manifest), name));
  } catch {
    return [];
  }
}

/** Whether a document holds nothing but comments. */
export function isEmpty({ yaml: { contents } }: SourceDocument): boolean {
  // `---` alone is a null without text.
  return contents === null || (isScalar(contents) && contents.source === "");
}

/** Whether a document is what a standalone file is: a mapping with `binds`. */
export function isStandalone({ yaml: { contents } }: SourceDocument): boolean {
  return isMap(contents) && contents.has("binds");
}

/** Whether a document is a schema for editors: no part of the input. */
export function isSchema({ yaml: { contents } }: SourceDocument): boolean {
  if (!isMap(contents)) return false;
  const schema = contents.get("$schema");
  return typeof schema === "string" && /^https?:\/\/json-schema\.org\//.test(schema);
}
