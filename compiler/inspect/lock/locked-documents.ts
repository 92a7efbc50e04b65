import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { DOCUMENTS } from "../../backends/mcp/openapi-copy.ts";
import { openApiTools } from "../../backends/mcp/openapi-tools.ts";
import type { FileText, Host } from "../../host.ts";
import { checkInput } from "../check-input.ts";

/** An OpenAPI document that a configuration names by its URL, and the file of its copy. */
export interface LockedDocument {
  readonly url: string;
  readonly file: string;
}

/** Milliseconds until a document must be there. */
const DEADLINE = 30_000;
/** Maximum number of characters of a document. */
const MAX_SIZE = 16 * 1024 * 1024;

/** Lists the documents of a configuration: what `check` misses where no copies are. */
export function lockedDocuments(
  files: readonly string[],
  host: Host,
  gateway: string | undefined,
): readonly LockedDocument[] {
  const readText = (file: string): FileText =>
    path.basename(path.dirname(file)) === DOCUMENTS
      ? { kind: "problem", problem: "it is not read" }
      : host.readText(file);
  const { diagnostics } = checkInput(files, { ...host, readText }, false, gateway);
  const wanted = diagnostics.flatMap(({ code, params }) =>
    code === "no-openapi-document" ? [params] : [],
  );
  return [...new Map(wanted.map((each) => [each.file, each])).values()];
}

/** Fetches a document, without following redirects. Throws an Error that says what failed. */
export async function fetchDocument(url: string): Promise<string> {
  const headers = { accept: "application/json, application/yaml;q=0.9, */*;q=0.5" };
  const signal = AbortSignal.timeout(DEADLINE);
  // A redirect could lead anywhere.
  const response = await fetch(url, { headers, signal, redirect: "manual" });
  if (response.status !== 200) throw new Error(`the server responds with ${response.status}`);
  const text = await response.text();
  if (text.length > MAX_SIZE) throw new Error("it has more than 16 MiB");
  const found = openApiTools(text);
  if (found.kind === "problem") throw new Error(`it ${found.problem}`);
  return text;
}

/** Writes the copy of a document. Throws an Error of the file system. */
export function writeDocument(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}
