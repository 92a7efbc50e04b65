import path from "node:path";
import { isMap, isScalar } from "yaml";
import type { SourceDocument } from "../diagnostics/source.ts";
import type { Host } from "../host.ts";

/** A file of the input. */
export interface InputFile {
  readonly path: string;
  /** Whether the user gave the file itself, not a folder that contains it. */
  readonly isNamed: boolean;
}

/**
 * Lists the files that the user gave, and the YAML and JSON files of folders except for tests, locks and build output.
 */
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
      .filter(
        (file) =>
          !written.has(path.normalize(file)) &&
          !isTestFile(file) &&
          !isLock(file) &&
          !isOfPolicies(file),
      )
      .map((file) => ({ path: file, isNamed: false }));
  });
}

/** Whether a file of a folder is a test file for `gwc test`, by its name. */
export function isTestFile(file: string): boolean {
  return /\.test\.ya?ml$/.test(file);
}

/** Whether a file of a folder belongs to custom policies: the settings of TypeScript, and the names that operators allow. */
function isOfPolicies(file: string): boolean {
  return /(?:^|[\\/])policies[\\/](?:tsconfig|allow)\.json$/.test(file);
}

/** Names of standalone files: the first one that exists in a folder is used by default. */
export const DEFAULT_FILES: readonly string[] = ["gateway.yaml", "gateway.yml", "gateway.json"];

/** Whether a file of a folder is a tool lock, by its name. */
export function isLock(file: string): boolean {
  return /\.lock\.ya?ml$/.test(file);
}

/**
 * Returns the files that a `manifest.json` lists as build output, including itself; empty if it is not a manifest of
 * gwc.
 */
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

/** Whether a document contains only comments. */
export function isEmpty({ yaml: { contents } }: SourceDocument): boolean {
  // `---` alone is a null without source.
  return contents === null || (isScalar(contents) && contents.source === "");
}

/**
 * Whether a document looks like a standalone file: a mapping with `gateways` or `binds`, or with one of the short forms.
 * Other tools have sections named `mcp` and `llm` too, so these need a key that only gwc requires.
 */
export function isStandalone({ yaml: { contents } }: SourceDocument): boolean {
  if (!isMap(contents)) return false;
  return (
    contents.has("gateways") ||
    contents.has("binds") ||
    contents.hasIn(["mcp", "targets"]) ||
    contents.hasIn(["llm", "models"])
  );
}

/** Whether a document is a JSON schema for editors, which is not part of the input. */
export function isSchema({ yaml: { contents } }: SourceDocument): boolean {
  if (!isMap(contents)) return false;
  const schema = contents.get("$schema");
  return typeof schema === "string" && /^https?:\/\/json-schema\.org\//.test(schema);
}
