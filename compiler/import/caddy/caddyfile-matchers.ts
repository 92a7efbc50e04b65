import { literalPattern } from "../../model/literal-pattern.ts";
import type { Directive } from "../directives/directive.ts";
import type { OrderedMatch } from "../proxy/ordered-routes.ts";
import { caddyPath } from "./caddy-values.ts";

/** Matches of a named matcher, or the reason why it cannot be converted. */
export type CaddyMatcher = readonly OrderedMatch[] | string;

/** Parses `@name { ... }` or `@name path /x`: all conditions must hold, each with any of its values. */
export function readMatcher({ words, block }: Directive): CaddyMatcher {
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
