import { checkLiteral } from "../../backends/parts/literal-templates.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import {
  anyText,
  choice,
  either,
  type Infer,
  integer,
  object,
  shortText,
} from "../../schema/schema.ts";
import type { ResolveContext } from "../policy.ts";

/** A new path, or a replacement of the prefix that the route matched. */
export type PathModifierConfig =
  | { readonly kind: "full"; readonly value: string }
  | { readonly kind: "prefix"; readonly value: string };

/** A new path, or a replacement with the prefixes that the route matches, longest first. */
export type PathModifierNode =
  | { readonly kind: "full"; readonly value: string }
  | { readonly kind: "prefix"; readonly value: string; readonly prefixes: readonly string[] };

/** A path without a query, as in a request target (RFC 3986 3.3). */
const PATH = {
  maxLength: 1024,
  pattern: "^/[A-Za-z0-9\\-._~!$&'()*+,;=:@%/]*$",
  form: 'a path that begins with "/", with spaces and non-ASCII characters percent-encoded (%20)',
} as const;

/** Schema of `path`. */
export const pathModifierSchema = object(
  {
    full: shortText("The complete new path.", PATH),
    prefix: anyText({
      ...PATH,
      pattern: `^$|${PATH.pattern}`,
      description:
        'Replacement for the matched prefix; the rest of the path is unchanged. `""` removes the prefix, as "/" does.',
    }),
  },
  { exactlyOneOf: ["full", "prefix"], description: "The new path; the query is unchanged." },
);

/** Value of `authority`. */
export type AuthorityValue = Infer<ReturnType<typeof authoritySchema>>;

/**
 * Returns the schema of `authority`, a change of the Host header: `{full}`, `{host}`, `{port}`, or one of `words`.
 */
export function authoritySchema(words: readonly string[], description: string) {
  return either(
    object(
      {
        full: shortText("Host and port.", { pattern: `^${HOST}(:[0-9]{1,5})?$` }),
        host: shortText("The host; the port is unchanged.", { pattern: `^${HOST}$` }),
        port: integer("The port; the host is unchanged.", 1, 65535),
      },
      { exactlyOneOf: ["full", "host", "port"] },
    ),
    anyText({ pattern: `^(${words.join("|")})$` }),
    { description },
  );
}

const HOST = "([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?|\\[[0-9A-Fa-f:.]+\\])";

/** The types of path modifiers, each with the field that has the replacement. */
const REPLACEMENTS: Readonly<Record<string, string>> = {
  ReplaceFullPath: "replaceFullPath",
  ReplacePrefixMatch: "replacePrefixMatch",
};

/** Schema of Gateway API's `HTTPPathModifier`. */
export const kubernetesPathModifierSchema = object(
  {
    type: choice("Part of the path that is replaced.", ["ReplaceFullPath", "ReplacePrefixMatch"]),
    replaceFullPath: anyText({ maxLength: 1024, description: "The complete new path." }),
    replacePrefixMatch: anyText({
      maxLength: 1024,
      description: "Replacement for the matched prefix; the rest of the path is unchanged.",
    }),
  },
  {
    description: "The new path; the query is unchanged.",
    required: ["type"],
    examples: [{ type: "ReplacePrefixMatch", replacePrefixMatch: "/v2" }],
    checks: Object.entries(REPLACEMENTS).map(([type, field]) => ({
      message: `"${field}" and type: ${type} require each other`,
      field,
      holds: (path) => (path.type === type) === Object.hasOwn(path, field),
      cel: `(self.type == '${type}') == has(self.${field})`,
    })),
  },
);

/** Reads `path`. */
export function lowerPathModifier(
  value: Infer<typeof pathModifierSchema> | undefined,
): PathModifierConfig | undefined {
  if (value?.full !== undefined) return { kind: "full", value: value.full };
  return value?.prefix === undefined ? undefined : { kind: "prefix", value: value.prefix };
}

/** Reads Gateway API's `HTTPPathModifier`. */
export function lowerKubernetesPathModifier(
  value: Infer<typeof kubernetesPathModifierSchema> | undefined,
): PathModifierConfig | undefined {
  if (value === undefined) return undefined;
  return value.type === "ReplaceFullPath"
    ? { kind: "full", value: value.replaceFullPath ?? "/" }
    : { kind: "prefix", value: value.replacePrefixMatch ?? "/" };
}

/** Resolves the change; returns `undefined` if the route has no prefix to replace (reported). */
export function resolvePathModifier(
  change: PathModifierConfig,
  origin: Origin,
  { route, diagnostics }: ResolveContext,
): PathModifierNode | undefined {
  checkLiteral(change.value, "path", childOf(origin, "path"), diagnostics);
  if (change.kind === "full") return change;
  const { prefixes } = route;
  if (prefixes === undefined) {
    diagnostics.report("needs-prefix-match", childOf(origin, "path", "prefix"), {
      field: '"prefix"',
    });
    return undefined;
  }
  return {
    kind: "prefix",
    value: change.value.replace(/\/+$/, ""),
    prefixes: prefixes
      .map((prefix) => (prefix === "/" ? "" : prefix))
      .sort((a, b) => b.length - a.length),
  };
}
