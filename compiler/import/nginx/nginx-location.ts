import type { Directive, TakenDirectives } from "../directives/directive.ts";
import {
  closed,
  type DraftFields,
  type DraftMatch,
  type RouteDraft,
} from "../proxy/route-draft.ts";
import { celText, plainText } from "../proxy/texts.ts";
import { accessPart, headersPart } from "./nginx-policies.ts";
import { returnPolicies } from "./nginx-return.ts";
import { NginxScope } from "./nginx-scope.ts";
import type { NginxNames } from "./nginx-text.ts";
import { nginxTarget } from "./nginx-upstream.ts";

/** A location and its match. */
export interface NginxLocation {
  readonly kind: "exact" | "prefix" | "first" | "regex";
  /** A path, or an RE2 pattern for a whole path. */
  readonly value: string;
  readonly scope: NginxScope;
  readonly directive: Directive;
}

/** Data shared by the routes of a server. */
export interface NginxServerContext {
  readonly names: NginxNames;
  readonly upstreams: readonly Directive[];
  readonly zones: readonly Directive[];
  readonly taken: TakenDirectives;
}

/** Lists the locations of a server, including nested ones; returns the reason as a string if one is not supported. */
export function locationsOf(
  scope: NginxScope,
  taken: TakenDirectives,
): readonly NginxLocation[] | string {
  const found: NginxLocation[] = [];
  for (const directive of scope.directives.filter(({ name }) => name === "location")) {
    const [first = "", second] = directive.words;
    taken.take(directive, "alone");
    // Named locations are only reached from directives elsewhere, which are reported there.
    if (first.startsWith("@")) continue;
    const inner = new NginxScope(directive.block ?? [], scope, taken);
    const kind = second === undefined ? "prefix" : MODIFIERS[first];
    const text = second ?? first;
    if (kind === undefined)
      return `${taken.place(directive)}: the modifier ${first} of location is unknown`;
    const value = kind === "regex" ? wholePath(text, first === "~*") : text;
    found.push({ kind, value, scope: inner, directive });
    const nested = locationsOf(inner, taken);
    if (typeof nested === "string") return nested;
    if (nested.some((each) => each.kind === "regex"))
      return `${taken.place(directive)}: a regex location is nested in another location`;
    found.push(...nested);
  }
  return found;
}

const MODIFIERS: Readonly<Record<string, NginxLocation["kind"]>> = {
  "=": "exact",
  "^~": "first",
  "~": "regex",
  "~*": "regex",
};

/** Converts a pattern that matches anywhere in a path to one for whole paths. */
function wholePath(pattern: string, isFolded: boolean): string {
  const flags = isFolded ? "(?i)" : "";
  const isAnchored = pattern.startsWith("^");
  const start = isAnchored ? pattern.slice(1) : `.*(?:${pattern}`;
  const isWhole = /(^|[^\\])\$$/.test(pattern);
  if (isAnchored && !pattern.includes("|"))
    return `${flags}${isWhole ? start.slice(0, -1) : `${start}.*`}`;
  return `${flags}${isAnchored ? `(?:${pattern}` : start}).*`;
}

/** Converts a location to a route. */
export function routeOf(
  { kind, value, scope, directive }: NginxLocation,
  matches: readonly DraftMatch[],
  { names, upstreams, zones, taken }: NginxServerContext,
): RouteDraft {
  const place = (each: Directive) => taken.place(each);
  const access = accessPart(scope, zones, place);
  const notes = [...access.notes];
  const problems = [...access.problems];
  const unknown = scope.unknown().find(({ name }) => name !== "location");
  if (unknown !== undefined) problems.push(`${place(unknown)}: ${unknown.name}`);
  const name = directive.words.join(" ");
  const draft = (
    own: DraftFields,
    backends: readonly DraftFields[],
    who = access.policies,
  ): RouteDraft => {
    const route = { name, matches, policies: { ...who, ...own }, backends, notes };
    const [problem] = problems;
    return problem === undefined ? route : closed(route, problem);
  };
  if (scope.own("if").length > 0) problems.push(`${place(directive)}: conditions (if)`);
  const headers = headersPart(scope, names, place);
  const [response] = scope.own("return");
  const type = scope.word("default_type") ?? "text/plain";
  if (response !== undefined) {
    const policies = returnPolicies(response, type, names);
    if (policies === undefined)
      problems.push(`${place(response)}: return ${response.words.join(" ")}`);
    const { responseHeaderModifier } = headers.policies;
    const changes = responseHeaderModifier === undefined ? {} : { responseHeaderModifier };
    // nginx runs `return` before access checks.
    return draft({ ...policies, ...changes }, [], {});
  }
  const [pass] = scope.own("proxy_pass");
  if (pass === undefined) {
    problems.push(`${place(directive)}: it has no proxy_pass (it serves files, FastCGI or others)`);
    return draft({}, []);
  }
  const target = nginxTarget(pass, scope, upstreams, taken);
  if (typeof target === "string") {
    problems.push(`${place(pass)}: ${target}`);
    return draft({}, []);
  }
  notes.push(...headers.notes, ...target.notes);
  noteProxyRedirects(scope, notes, place);
  const { hostRewrite, urlRewrite, ...rest } = headers.policies;
  const isOwnHost = isAuto(hostRewrite);
  const host =
    isOwnHost && target.group !== undefined
      ? { urlRewrite: { authority: { full: plainText(target.group) } } }
      : {
          ...(hostRewrite !== undefined && { hostRewrite }),
          ...(urlRewrite !== undefined && { urlRewrite }),
        };
  const rewritten = rewrite(target.path, { kind, value }, matches, { ...rest, ...host });
  if (rewritten === undefined)
    problems.push(`${place(pass)}: proxy_pass with a path in a regex location`);
  if (
    kind === "prefix" &&
    !value.endsWith("/") &&
    matches.some(({ path }) => path?.kind === "prefix")
  )
    notes.push(
      `${place(directive)}: "${value}x" also matched this location; in gwc only the path itself and paths below "${value}/" match`,
    );
  return draft({ ...target.policies, ...(rewritten ?? rest) }, target.backends);
}

function isAuto(hostRewrite: unknown): boolean {
  return JSON.stringify(hostRewrite) === '{"mode":"Auto"}';
}

/** Notes each `proxy_redirect`: gwc does not rewrite the Location header of servers. */
function noteProxyRedirects(
  scope: NginxScope,
  notes: string[],
  place: (each: Directive) => string,
): void {
  for (const each of scope.all("proxy_redirect"))
    if (each.words[0] !== "off")
      notes.push(`${place(each)}: redirects of servers are forwarded unchanged`);
}

/** Adds the rewrite from the matched path to the path of `proxy_pass`; `undefined` for regex locations, where nginx has none. */
function rewrite(
  target: string | undefined,
  { kind, value }: Pick<NginxLocation, "kind" | "value">,
  matches: readonly DraftMatch[],
  policies: DraftFields,
): DraftFields | undefined {
  if (target === undefined) return policies;
  if (kind === "regex") return undefined;
  const { urlRewrite, transformations } = policies;
  const authority = fieldOf(urlRewrite, "authority");
  const own = authority === undefined ? {} : { authority };
  if (kind === "exact")
    return { ...policies, urlRewrite: { ...own, path: { full: plainText(target) } } };
  const [from, to] = [value, target].map((each) => each.replace(/\/$/, ""));
  const isWhole = value.endsWith("/") === target.endsWith("/");
  const isPrefix = matches.some(({ path }) => path?.kind === "prefix");
  if (isWhole && from === to) return policies;
  if (isWhole && isPrefix)
    return {
      ...policies,
      urlRewrite: { ...own, path: { prefix: plainText(to === "" ? "/" : (to ?? "")) } },
    };
  const path = `${celText(target)} + request.pathAndQuery.substring(${value.length})`;
  const set = {
    ...fieldsOf(fieldOf(fieldOf(transformations, "request"), "set")),
    ":path": plainText(path),
  };
  return { ...policies, transformations: { request: { set } } };
}

function fieldOf(value: unknown, field: string): unknown {
  return fieldsOf(value)[field];
}

function fieldsOf(value: unknown): DraftFields {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
