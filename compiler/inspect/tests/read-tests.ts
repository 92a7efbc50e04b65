import { readDocuments } from "../../1-parse/documents.ts";
import { readValue } from "../../1-parse/values.ts";
import { Diagnostics, type Origin } from "../../diagnostics/diagnostic.ts";
import type { SourceFile } from "../../diagnostics/source.ts";
import type { Host } from "../../host.ts";
import { validator } from "../../schema/validate.ts";
import { type TestFile, testFileSchema } from "./test-schema.ts";

/** A parsed test file. */
export interface TestSuite {
  readonly origin: Origin;
  readonly value: TestFile;
}

/** The readable test files. */
export interface ReadTests {
  readonly suites: readonly TestSuite[];
  /** All files, for messages. */
  readonly files: readonly SourceFile[];
}

/** Reads test files; invalid ones are reported and skipped. */
export function readTests(
  paths: readonly string[],
  host: Host,
  diagnostics: Diagnostics,
): ReadTests {
  const files: SourceFile[] = [];
  const suites = paths.flatMap((file): readonly TestSuite[] => {
    const read = host.readText(file);
    if (read.kind === "problem") {
      const at = { file, document: 0, path: [], part: "file" } as const;
      diagnostics.report("file-not-found", at, { file, problem: read.problem });
      return [];
    }
    const before = diagnostics.list.length;
    const source = readDocuments(file, file, read.text, diagnostics);
    files.push(source);
    if (diagnostics.list.length > before) return [];
    return suiteOf(source, host, diagnostics);
  });
  return { suites, files };
}

function suiteOf(source: SourceFile, host: Host, diagnostics: Diagnostics): readonly TestSuite[] {
  const origin: Origin = { file: source.name, document: 0, path: [] };
  const [document, second] = source.documents;
  if (document === undefined || document.yaml.contents === null) {
    diagnostics.report("empty-file", { ...origin, part: "file" }, { file: source.path });
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
  const found = new Diagnostics();
  const read = readValue(document, origin, testFileSchema, host, found);
  const value = validator(testFileSchema, [read.value]).whole(read, origin, found);
  for (const each of found.list) diagnostics.add(each);
  return value === undefined || found.list.length > 0 ? [] : [{ origin, value }];
}
