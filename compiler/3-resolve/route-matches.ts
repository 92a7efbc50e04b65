import { canonicalPath } from "../../runtime/http/routing/path.ts";
import type { Expression } from "../../templates/code/hole.ts";
import { resolveValueMatch } from "../backends/parts/value-match.ts";
import { addProblems } from "../cel/parse/problems.ts";
import { canBeginWith } from "../cel/regex/can-begin-with.ts";
import { checkPattern } from "../cel/regex/check-pattern.ts";
import { compileConstantPattern } from "../cel/regex/pattern.ts";
import type { MatchConfig } from "../config/resources.ts";
import { childOf, type Diagnostics, type Origin } from "../diagnostics/diagnostic.ts";
import type { RouteMatch, ValueMatch, ValueMatchConfig } from "../model/matches.ts";

/** Services needed to check conditions of routes. */
interface MatchContext {
  readonly diagnostics: Diagnostics;
}

/** Resolves the conditions of a route; `undefined` if there is a mistake (reported). */
export function resolveMatch(match: MatchConfig, context: MatchContext): RouteMatch | undefined {
  const headers = onceEach(match.headers, "header", context).map((each) =>
    resolveValueMatch(each, "header", context.diagnostics),
  );
  const query = onceEach(match.query, "query parameter", context).map((each) =>
    resolveValueMatch(each, "query", context.diagnostics),
  );
  const { kind, value } = match.path;
  let path: RouteMatch["path"];
  if (kind === "regex") {
    const at = childOf(match.origin, "path", "regex");
    for (const part of match.path.parts ?? []) {
      const problems = checkPattern(part);
      addProblems(problems, at, context.diagnostics);
      if (problems.length > 0) return undefined;
    }
    const test = resolvePattern(value, "path", at, context);
    if (test === undefined) return undefined;
    if (!canBeginWith(value, "/")) context.diagnostics.report("no-path-matches", at, {});
    path = { kind, value, test };
  } else {
    path = { kind, value: kind === "prefix" ? trimmedPrefix(value) : value };
    checkForm(path.value, match.origin, context);
  }
  const isComplete = [...headers, ...query].every((each) => each !== undefined);
  if (!isComplete) return undefined;
  const known = (each: ValueMatch | undefined): readonly ValueMatch[] =>
    each === undefined ? [] : [each];
  return {
    path,
    method: match.method,
    headers: headers.flatMap(known),
    query: query.flatMap(known),
    isDerived: false,
    ...(match.ranks && { ranks: match.ranks }),
    origin: match.origin,
  };
}

/** Characters that clients must encode. */
const UNSENT = /[^\x21-\x7e]/gu;

/** Reports paths that are not in canonical form, and therefore never match a request. */
function checkForm(path: string, origin: Origin, { diagnostics }: MatchContext): void {
  const [ahead = "", query] = path.split(/[?#]/);
  const form = canonicalPath(path.toWellFormed().replace(UNSENT, encodeURIComponent));
  if (query !== undefined)
    diagnostics.report("query-in-path", childOf(origin, "path"), { path, ahead });
  else if (form !== path)
    diagnostics.report("path-never-sent", childOf(origin, "path"), { path, form });
  else if (/\/\*+$/.test(path))
    diagnostics.report("star-in-path", childOf(origin, "path"), { path });
}

/** Removes a trailing slash, which has no meaning in a prefix (Gateway API). */
export function trimmedPrefix(prefix: string): string {
  return prefix.replace(/\/+$/, "") || "/";
}

/**
 * Returns the first of several conditions on the same name, which is the one that counts (Gateway API
 * HTTPRouteMatch).
 */
function onceEach(
  values: readonly ValueMatchConfig[],
  what: "header" | "query parameter",
  { diagnostics }: MatchContext,
): readonly ValueMatchConfig[] {
  const seen = new Map<string, ValueMatchConfig>();
  for (const each of values) {
    const { name, origin } = each;
    const first = seen.get(name);
    if (first === undefined) seen.set(name, each);
    else {
      const related = [{ at: first.origin, label: "the one that counts" }];
      diagnostics.report("repeated-condition", origin, { what, name }, related);
    }
  }
  return [...seen.values()];
}

function resolvePattern(
  pattern: string,
  subject: string,
  origin: Origin,
  { diagnostics }: MatchContext,
): Expression | undefined {
  const { code, problems } = compileConstantPattern(pattern, { subject, match: "full" });
  addProblems(problems, origin, diagnostics);
  return code;
}
