import type { OrderedMatch } from "../proxy/ordered-routes.ts";
import { plainText } from "../proxy/texts.ts";

/** A match of a rule, on one host or, without `host`, on all. */
export interface RuleMatch extends OrderedMatch {
  readonly host?: string;
}

/** Parses the rule of a router into alternative matches; returns the reason as a string if that is impossible. */
export function readRule(text: string): readonly RuleMatch[] | string {
  const tokens = tokensOf(text);
  if (tokens === undefined) return `the rule is not supported: ${text}`;
  let next = 0;
  let problem: string | undefined;
  const either = (): readonly RuleMatch[] => {
    const found = [...all()];
    while (tokens[next] === "||") {
      next += 1;
      found.push(...all());
    }
    return found;
  };
  const all = (): readonly RuleMatch[] => {
    let found = one();
    while (tokens[next] === "&&") {
      next += 1;
      const more = one();
      found = found.flatMap((a) => more.flatMap((b) => together(a, b)));
    }
    return found;
  };
  const together = (a: RuleMatch, b: RuleMatch): readonly RuleMatch[] => {
    const twice = (["host", "path", "method"] as const).find((key) => key in a && key in b);
    if (twice !== undefined) problem ??= `the rule requires two values of ${twice}`;
    return [
      {
        ...a,
        ...b,
        headers: [...(a.headers ?? []), ...(b.headers ?? [])],
        query: [...(a.query ?? []), ...(b.query ?? [])],
      },
    ];
  };
  const one = (): readonly RuleMatch[] => {
    const token = tokens[next];
    next += 1;
    if (token === "(") {
      const found = either();
      if (tokens[next] !== ")") problem ??= 'missing ")"';
      next += 1;
      return found;
    }
    const call = typeof token === "object" ? matchesOf(token.name, token.words) : undefined;
    if (call === undefined)
      problem ??= `gwc has no counterpart for ${typeof token === "object" ? token.name : (token ?? "the end of the rule")}`;
    return call ?? [{}];
  };
  const found = either();
  if (next < tokens.length) problem ??= `the rule is not supported: ${text}`;
  return problem ?? found;
}

type Token = string | { readonly name: string; readonly words: readonly string[] };

function tokensOf(text: string): readonly Token[] | undefined {
  const tokens: Token[] = [];
  let rest = text.trim();
  while (rest !== "") {
    const [sign] = /^(&&|\|\||[()!])/.exec(rest) ?? [];
    const [call, name = "", inside = ""] =
      /^([A-Za-z]+)\(((?:\s*(?:`[^`]*`|"(?:[^"\\]|\\.)*")\s*,?)*)\)/.exec(rest) ?? [];
    if (sign !== undefined) tokens.push(sign);
    else if (call === undefined) return undefined;
    else {
      const words = [...inside.matchAll(/`([^`]*)`|"((?:[^"\\]|\\.)*)"/g)];
      tokens.push({ name, words: words.map(([, raw, quoted]) => raw ?? unquoted(quoted ?? "")) });
    }
    rest = rest.slice((sign ?? call ?? "").length).trim();
  }
  return tokens;
}

function unquoted(text: string): string {
  return text.replace(/\\(.)/g, "$1");
}

/** Converts a pattern that matches anywhere in a string to one for whole strings. */
function wholePattern(text: string): string {
  const [, start, inner = "", end] = /^(\^?)(.*?)((?<!\\)\$)?$/s.exec(text) ?? [];
  if (start === "" || inner.includes("|")) return `(?:.*(?:${text}).*)`;
  return end === undefined ? `${inner}.*` : inner;
}

function matchesOf(name: string, words: readonly string[]): readonly RuleMatch[] | undefined {
  const [first = "", second] = words;
  const plain = words.map(plainText);
  // Older versions of Traefik allow patterns in braces here.
  if (!/Regexp$/.test(name) && words.some((word) => /[{}]/.test(word))) return undefined;
  switch (name) {
    case "Host":
      return plain.map((host) => ({ host: host.toLowerCase() }));
    case "Path":
      return plain.map((value) => ({ path: { kind: "exact", value } }));
    case "PathPrefix":
      return plain.map((value) => ({ path: { kind: "start", value } }));
    case "PathRegexp":
      return words.length === 1
        ? [{ path: { kind: "regex", value: plainText(wholePattern(first)) } }]
        : undefined;
    case "Method":
      return words.map((method) => ({ method: method.toUpperCase() }));
    case "Header":
    case "Headers":
      return second === undefined
        ? undefined
        : [{ headers: [{ name: first.toLowerCase(), kind: "exact", value: plainText(second) }] }];
    case "HeaderRegexp":
    case "HeadersRegexp":
      return second === undefined
        ? undefined
        : [
            {
              headers: [
                {
                  name: first.toLowerCase(),
                  kind: "regex",
                  value: plainText(wholePattern(second)),
                },
              ],
            },
          ];
    case "Query":
      return second === undefined || words.length > 2
        ? undefined
        : [{ query: [{ name: first, kind: "exact", value: plainText(second) }] }];
    default:
      return undefined;
  }
}
