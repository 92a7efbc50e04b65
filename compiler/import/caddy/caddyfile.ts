import { literalPattern } from "../../model/literal-pattern.ts";
import type { Directive, TakenDirectives } from "../directives/directive.ts";
import type { OrderedMatch } from "../proxy/ordered-routes.ts";
import { secretName } from "../proxy/texts.ts";
import type { CaddyRoute, CaddyStep } from "./caddy-steps.ts";
import {
  caddyPath,
  caddyText,
  headerChange,
  redirectPolicies,
  requestHeaderPolicies,
  responseHeaderPolicies,
} from "./caddy-values.ts";
import { proxyStep } from "./caddyfile-proxy.ts";

/** Caddy's default order of directives. Unknown ones of modules come first, because they may decide about access. */
const ORDER = [
  ...["tracing", "map", "vars", "fs", "root", "log_append", "log_skip", "log_name", "header"],
  ...["copy_response_headers", "request_body", "redir", "method", "rewrite", "uri", "try_files"],
  ...["basic_auth", "forward_auth", "request_header", "encode", "push", "intercept", "templates"],
  ...["invoke", "handle", "handle_path", "route", "abort", "error", "respond", "metrics"],
  ...["reverse_proxy", "php_fastcgi", "file_server", "acme_server"],
];

/** Directives that affect neither access nor routing. */
const HARMLESS: ReadonlySet<string> = new Set([
  ...["tracing", "vars", "root", "fs", "log", "log_append", "log_skip", "log_name", "skip_log"],
  ...["encode", "request_body", "metrics", "bind", "tls", "handle_errors", "push"],
]);

/** Converts the directives of a block, sorted in Caddy's order; a `route` block keeps its own order. */
export function caddyfileRoutes(
  block: readonly Directive[],
  taken: TakenDirectives,
  matchers: ReadonlyMap<string, CaddyMatcher> = new Map(),
  isOrdered = false,
): readonly CaddyRoute[] {
  const own = new Map(matchers);
  for (const each of block.filter(({ name }) => name.startsWith("@"))) {
    taken.take(each);
    own.set(each.name, readMatcher(each));
  }
  const read = block
    .filter(({ name }) => !name.startsWith("@") && !HARMLESS.has(name))
    .map((each) => ({ directive: each, ...routeOf(each, taken, own) }));
  return isOrdered ? read : read.toSorted(inOrder);
}

type ReadRoute = CaddyRoute & { readonly directive: Directive };

function inOrder(a: ReadRoute, b: ReadRoute): number {
  const place = (name: string) => {
    return ORDER.indexOf(
      name === "basicauth" ? "basic_auth" : name === "handle_path" ? "handle" : name,
    );
  };
  const length = ({ matches }: CaddyRoute) =>
    typeof matches !== "string" && matches.length === 1 ? (matches[0]?.path?.value.length ?? 0) : 0;
  const isAll = ({ matches }: CaddyRoute) => Number(matches.length === 0);
  return (
    place(a.directive.name) - place(b.directive.name) ||
    length(b) - length(a) ||
    isAll(a) - isAll(b)
  );
}

function routeOf(
  directive: Directive,
  taken: TakenDirectives,
  matchers: ReadonlyMap<string, CaddyMatcher>,
): CaddyRoute {
  const [first = "", ...rest] = directive.words;
  const hasMatcher = /^(\/|@)/.test(first) || first === "*";
  const words = hasMatcher ? rest : directive.words;
  const name = hasMatcher ? first.replace(/^@/, "") : directive.name;
  const matches: readonly OrderedMatch[] | string =
    !hasMatcher || first === "*"
      ? []
      : first.startsWith("@")
        ? (matchers.get(first) ?? `the matcher ${first} is not defined`)
        : [{ path: caddyPath(first) }];
  const steps = stepsOf(directive, words, first, taken, matchers);
  const isTerminal = /^handle(_path)?$/.test(directive.name);
  return { name, matches, steps, isTerminal };
}

function stepsOf(
  directive: Directive,
  words: readonly string[],
  first: string,
  taken: TakenDirectives,
  matchers: ReadonlyMap<string, CaddyMatcher>,
): readonly CaddyStep[] {
  const { name, block = [] } = directive;
  const place = taken.place(directive);
  const notes: string[] = [];
  const problem: CaddyStep = { kind: "problem", text: `${place}: ${name}` };
  const [value = "", second] = words;
  const inside = (isOrdered: boolean): CaddyStep => {
    taken.take(directive, "alone");
    return { kind: "routes", routes: caddyfileRoutes(block, taken, matchers, isOrdered) };
  };
  const done = (step: CaddyStep | undefined): readonly CaddyStep[] => {
    if (step !== undefined && step.kind !== "problem") taken.take(directive);
    return [step ?? problem];
  };
  switch (name) {
    case "handle":
      return [inside(false)];
    case "route":
      return [inside(true)];
    case "handle_path": {
      const prefix = first.replace(/\*$/, "").replace(/\/$/, "");
      return [{ kind: "strip", prefix, place }, inside(false)];
    }
    case "uri":
      return value === "strip_prefix" && second !== undefined
        ? done({ kind: "strip", prefix: second, place })
        : [problem];
    case "reverse_proxy":
      return [proxyStep(directive, words, taken)];
    case "redir": {
      const codes: Readonly<Record<string, number>> = { permanent: 301, temporary: 302 };
      const status = codes[second ?? "temporary"] ?? Number(second);
      const policies = Number.isInteger(status) ? redirectPolicies(value, status) : undefined;
      return done(policies && { kind: "end", policies, backends: [], notes });
    }
    case "respond":
      return done(responseOf(words, block));
    case "error":
      return done(responseOf(/^\d{3}$/.test(value) ? [value] : [second ?? "500"], []));
    case "header":
    case "request_header": {
      const lines = words.length > 0 ? [words] : block.map((each) => [each.name, ...each.words]);
      const changes = lines.filter(([each]) => each !== "defer").map(headerChange);
      const known = changes.filter((each) => each !== undefined);
      if (known.length < changes.length) return [problem];
      const policies =
        name === "header"
          ? responseHeaderPolicies(known, place, notes)
          : requestHeaderPolicies(known, place, notes);
      return done({ kind: "change", policies, notes });
    }
    case "basicauth":
    case "basic_auth": {
      if (words.length > 0 && value !== "bcrypt") return [problem];
      const variable = `${secretName(second ?? "")}_USERS`.replace(/^GATEWAY__/, "CADDY_");
      const users = block.map((each) => each.name).join(", ");
      notes.push(`${place}: put the USER:HASH lines of ${users} into the variable ${variable}`);
      const realm = second === undefined ? {} : { realm: second };
      const policies = { basicAuth: { ...realm, htpasswd: `\${${variable}}` } };
      return done({ kind: "change", policies, notes });
    }
    default:
      return [problem];
  }
}

/** Converts `respond "body" 200` or `respond 404`; `undefined` if it has an unknown placeholder. */
function responseOf(words: readonly string[], block: readonly Directive[]): CaddyStep | undefined {
  const [first = "", second] = words;
  const isStatus = second === undefined && /^\d{3}$/.test(first);
  const status = Number(isStatus ? first : (second ?? 200));
  const body = isStatus ? (block.find(({ name }) => name === "body")?.words[0] ?? "") : first;
  const text = caddyText(body);
  if (text === undefined || !Number.isInteger(status) || status < 200 || status > 599)
    return undefined;
  const response =
    "text" in text ? text.text !== "" && { body: text.text } : { bodyExpression: text.expression };
  return {
    kind: "end",
    policies: { directResponse: { status, ...response } },
    backends: [],
    notes: [],
  };
}

/** Matches of a named matcher, or the reason why it cannot be converted. */
type CaddyMatcher = readonly OrderedMatch[] | string;

/** Parses `@name { ... }` or `@name path /x`: all conditions must hold, each with any of its values. */
function readMatcher({ words, block }: Directive): CaddyMatcher {
  const [name = "", ...rest] = words;
  const own = { name, words: rest };
  const conditions = block ?? (name === "" ? [] : [own]);
  let found: readonly OrderedMatch[] = [{}];
  for (const each of conditions) {
    const more = conditionOf(each.name, each.words);
    if (more === undefined) return `the matcher ${each.name} has no counterpart`;
    if (
      found.some((one) =>
        more.some((other) =>
          Object.keys(other).some((key) => key in one && key !== "headers" && key !== "query"),
        ),
      )
    )
      return `the matcher ${each.name} occurs twice`;
    found = found.flatMap((one) =>
      more.map((other) => ({
        ...one,
        ...other,
        headers: [...(one.headers ?? []), ...(other.headers ?? [])],
        query: [...(one.query ?? []), ...(other.query ?? [])],
      })),
    );
  }
  return found;
}

function conditionOf(name: string, words: readonly string[]): readonly OrderedMatch[] | undefined {
  if (words.some((word) => /(?<!\$)\{/.test(word))) return undefined;
  switch (name) {
    case "path":
      return words.map((word) => ({ path: caddyPath(word) }));
    case "path_regexp": {
      const pattern = words.at(-1) ?? "";
      return [{ path: { kind: "regex", value: `(?:.*(?:${pattern}).*)` } }];
    }
    case "method":
      return words.map((method) => ({ method: method.toUpperCase() }));
    case "header": {
      const [header = "", value] = words;
      if (header.startsWith("!") || value === undefined) return undefined;
      return [{ headers: [{ name: header.toLowerCase(), ...valueTest(value) }] }];
    }
    case "query": {
      if (words.length !== 1) return undefined;
      const [, key = "", value = ""] = /^([^=]+)=(.*)$/.exec(words[0] ?? "") ?? [];
      return key === "" ? undefined : [{ query: [{ name: key, ...valueTest(value) }] }];
    }
    default:
      return undefined;
  }
}

/** Converts a value; `*` at its ends matches anything. */
function valueTest(text: string): { readonly kind: "exact" | "regex"; readonly value: string } {
  if (!/^\*|\*$/.test(text)) return { kind: "exact", value: text };
  const [, start = "", inner = "", end = ""] = /^(\*?)(.*?)(\*?)$/s.exec(text) ?? [];
  const any = (star: string) => (star === "" ? "" : ".*");
  return { kind: "regex", value: `${any(start)}${literalPattern(inner)}${any(end)}` };
}
