import { RE2JS } from "re2js";
import type { PathMatch, ValueMatch } from "../../model/matches.ts";

/** Whether a host name is one of those that a pattern stands for: `*`, `*.example.com`, or itself. */
export function coversHost(pattern: string, hostname: string): boolean {
  if (pattern === "*") return true;
  return pattern.startsWith("*.") ? hostname.endsWith(pattern.slice(1)) : pattern === hostname;
}

/** Whether a path in its canonical form is as a match asks. */
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

/** Whether a header or parameter is as a match asks; undefined: it is not there. */
export function matchesValue({ value }: ValueMatch, found: string | undefined): boolean {
  if (found === undefined) return false;
  return value.kind === "exact" ? found === value.value : patternOf(value.value).matches(found);
}

/** Patterns are made once: a routing table is asked for each kind of request. */
const patterns = new Map<string, RE2JS>();

function patternOf(text: string): RE2JS {
  const pattern = patterns.get(text) ?? RE2JS.compile(text);
  patterns.set(text, pattern);
  return pattern;
}
