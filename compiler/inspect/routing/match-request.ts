import { RE2JS } from "re2js";
import type { BindNode, ListenerNode } from "../../ir/program.ts";
import type { PathMatch, ValueMatch } from "../../model/matches.ts";

/** Whether a host name matches a pattern: `*`, `*.example.com`, or an exact name. */
export function coversHost(pattern: string, hostname: string): boolean {
  if (pattern === "*") return true;
  return pattern.startsWith("*.") ? hostname.endsWith(pattern.slice(1)) : pattern === hostname;
}

/** Returns the listener that serves a host name on a port, `passedOn` for TLS passthrough, `undefined` if nothing does. */
export function holderOf(
  { listeners, hostnames }: BindNode,
  hostname: string,
): ListenerNode | "passedOn" | undefined {
  const found = hostnames.find((each) => coversHost(each.hostname, hostname));
  if (found === undefined) return undefined;
  return listeners.find(({ id }) => id === found.listener) ?? "passedOn";
}

/** Whether a canonical path meets a match. */
export function matchesPath({ kind, value }: PathMatch, path: string): boolean {
  switch (kind) {
    case "exact":
      return path === value;
    case "prefix":
      return value === "/" || path === value || path.startsWith(`${value}/`);
    case "regex":
      return patternOf(value).matches(path);
  }
}

/** Whether a header or parameter meets a match; `found` is `undefined` if it is absent. */
export function matchesValue({ value }: ValueMatch, found: string | undefined): boolean {
  if (found === undefined) return false;
  return value.kind === "exact" ? found === value.value : patternOf(value.value).matches(found);
}

/** Compiled patterns: a routing table is queried for each kind of request. */
const patterns = new Map<string, RE2JS>();

function patternOf(text: string): RE2JS {
  const pattern = patterns.get(text) ?? RE2JS.compile(text);
  patterns.set(text, pattern);
  return pattern;
}
