import { type Document, LineCounter, parseDocument } from "yaml";
import {
  type ConfigPath,
  type Diagnostic,
  formatPath,
  isError,
} from "../diagnostics/diagnostic.ts";
import { findingsOf } from "../diagnostics/report/findings.ts";
import type { Host } from "../host.ts";
import { checkInput } from "../inspect/check-input.ts";
import { CLOSED } from "./proxy/route-draft.ts";

/** The part of a file that `gwc check` accepts. */
export interface AcceptedFile {
  readonly text: string;
  /** Removed parts: `line 12: llm.providers: MESSAGE`. */
  readonly refused: readonly string[];
  /** Paths of routes that answer 503, because a removed part may have restricted access. */
  readonly closed: readonly string[];
}

/** Maximum number of removed parts; each removal may reveal another mistake. */
const ROUNDS = 500;

/**
 * Removes the smallest parts that gwc refuses until the file is valid; returns the reason as a string if nothing remains.
 * Routes that lose access rules or matches answer 503 until the user decides.
 */
export function acceptedFile(file: string, text: string, host: Host): AcceptedFile | string {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, logLevel: "silent" });
  const [problem] = document.errors;
  if (problem !== undefined) return problem.message.split("\n")[0] ?? "it is not YAML";
  const refused: string[] = [];
  const closed = new Set<string>();
  for (let round = 0; round < ROUNDS; round++) {
    const current = refused.length === 0 ? text : document.toString({ lineWidth: 0 });
    const readText: Host["readText"] = (name) =>
      name === file ? { kind: "text", text: current } : host.readText(name);
    const checked = checkInput([file], { ...host, readText }, false);
    const wrong = checked.diagnostics.find((each) => isError(each, false));
    if (wrong === undefined) return { text: current, refused, closed: [...closed] };
    const [found] = findingsOf([wrong], checked.files, false);
    const at = existing(wrong, (path) => document.hasIn(path));
    if (at.length === 0) return found?.message ?? wrong.code;
    const start = rangeStart(document.getIn(at, true));
    const line = start === undefined ? "" : `line ${lines.linePos(start).line}: `;
    refused.push(`${line}${formatPath(at)}: ${found?.message ?? wrong.code}`);
    document.deleteIn(at);
    if (!restricts(at)) continue;
    for (const route of routesAt(document, at)) {
      closed.add(formatPath(route));
      document.setIn([...route, "policies", "directResponse"], document.createNode(CLOSED));
    }
  }
  return `it has more than ${ROUNDS} parts that gwc does not support`;
}

/** Parts that restrict which requests a route serves. */
const RESTRICTING: ReadonlySet<string | number> = new Set([
  ...["policies", "matches", "hostnames", "hostname", "tls", "address", "gateways"],
]);

/** Policies that do not restrict access. */
const HARMLESS: ReadonlySet<string | number> = new Set([
  ...["a2a", "cors", "timeout", "retry", "directResponse"],
]);

function restricts(path: ConfigPath): boolean {
  return path.some((step) => RESTRICTING.has(step)) && !path.some((step) => HARMLESS.has(step));
}

/** Returns the route that contains a part, or else all routes below its nearest ancestor that has routes. */
function routesAt(document: Document, path: ConfigPath): readonly ConfigPath[] {
  const routes = routesBelow(document.toJS(), []);
  const isBelow = (inner: ConfigPath, outer: ConfigPath) =>
    outer.every((step, at) => inner[at] === step);
  const own = routes.filter((route) => isBelow(path, route));
  if (own.length > 0) return own;
  for (let above = path.slice(0, -1); ; above = above.slice(0, -1)) {
    const found = routes.filter((route) => isBelow(route, above));
    if (found.length > 0 || above.length === 0) return found;
  }
}

/** Lists the paths that lead to servers: routes, `mcp` and `llm`. */
function routesBelow(value: unknown, path: ConfigPath): readonly ConfigPath[] {
  if (typeof value !== "object" || value === null) return [];
  const isRoute =
    !Array.isArray(value) &&
    ((path.at(-2) === "routes" && path.length > 1) ||
      (path.length === 1 && (path[0] === "mcp" || path[0] === "llm")));
  if (isRoute) return [path];
  return Object.entries(value).flatMap(([key, each]) =>
    routesBelow(each, [...path, Array.isArray(value) ? Number(key) : key]),
  );
}

/** Returns the path of a diagnostic, or its nearest ancestor that exists. */
function existing({ at }: Diagnostic, isThere: (path: ConfigPath) => boolean): ConfigPath {
  let { path } = at;
  while (path.length > 0 && !isThere(path)) path = path.slice(0, -1);
  return path;
}

function rangeStart(node: unknown): number | undefined {
  if (typeof node !== "object" || node === null || !("range" in node)) return undefined;
  return Array.isArray(node.range) ? Number(node.range[0]) : undefined;
}
