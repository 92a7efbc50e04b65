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
/** Number of times that a request is repeated if the connection fails or the server is busy. */
const MAX_RETRIES = 2;
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

/**
 * Fetches a document through the proxies of the environment (`HTTPS_PROXY`, `NO_PROXY`), without following redirects. Throws an
 * Error that says what failed.
 */
export async function fetchDocument(url: string): Promise<string> {
  const text = await download(url);
  if (text.length > MAX_SIZE) throw new Error("it has more than 16 MiB");
  const found = openApiTools(text);
  if (found.kind === "problem") throw new Error(`it ${found.problem}`);
  return text;
}

async function download(url: string): Promise<string> {
  // Other parts of `gwc lock` do without the client.
  const { EnvHttpProxyAgent, fetch, RetryAgent } = await import("undici");
  const dispatcher = new RetryAgent(new EnvHttpProxyAgent(), { maxRetries: MAX_RETRIES });
  const headers = { accept: "application/json, application/yaml;q=0.9, */*;q=0.5" };
  const signal = AbortSignal.timeout(DEADLINE);
  try {
    // A redirect could lead anywhere.
    const response = await fetch(url, { dispatcher, headers, signal, redirect: "manual" });
    if (response.status !== 200) throw new Error(statusProblem(response.status));
    return await response.text();
  } catch (error) {
    throw new Error(problemOf(error));
  } finally {
    await dispatcher.destroy();
  }
}

/** Returns why a request failed, which is the cause of the error of `fetch`. */
function problemOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (!(cause instanceof Error))
    return error.name === "TimeoutError" ? "no response in 30 seconds" : error.message;
  return "statusCode" in cause ? statusProblem(Number(cause.statusCode)) : cause.message;
}

function statusProblem(status: number): string {
  return `the server responds with ${status}`;
}

/** Writes the copy of a document. Throws an Error of the file system. */
export function writeDocument(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}
