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

/** A new path: the whole of it, or what stands in the place of the prefix that the route matched. */
export type PathModifierConfig =
  | { readonly kind: "full"; readonly value: string }
  | { readonly kind: "prefix"; readonly value: string };

/** A new path, with the prefixes that the route matches, longest first. */
export type PathModifierNode =
  | { readonly kind: "full"; readonly value: string }
  | { readonly kind: "prefix"; readonly value: string; readonly prefixes: readonly string[] };

/** A path without a query: what may stand in a request target (RFC 3986 3.3). */
const PATH = {
  maxLength: 1024,
  pattern: "^/[A-Za-z0-9\\-._~!$&'()*+,;=:@%/]*$",
  form: 'a path that begins with "/", in which spaces and what is beyond ASCII are encoded (%20)',
} as const;

/** The shape of `path`. */
export const pathModifierSchema = object(
  {
    full: shortText("The whole path.", PATH),
    prefix: shortText("What the matched prefix becomes; the rest of the path stays.", PATH),
  },
  { exactlyOneOf: ["full", "prefix"], description: "The new path; the query stays." },
);

/** A validated `authority`. */
export type AuthorityValue = Infer<ReturnType<typeof authoritySchema>>;

/** The shape of `authority`: what stands in Host, as `{full}`, `{host}`, `{port}`, or a word. */
export function authoritySchema(words: readonly string[], description: string) {
  return either(
    object(
      {
        full: shortText("Host and port.", { pattern: `^${HOST}(:[0-9]{1,5})?$` }),
        host: shortText("The host; the port stays.", { pattern: `^${HOST}$` }),
        port: integer("The port; the host stays.", 1, 65535),
      },
      { exactlyOneOf: ["full", "host", "port"] },
    ),
    anyText({ pattern: `^(${words.join("|")})$` }),
    { description },
  );
}

const HOST = "([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?|\\[[0-9A-Fa-f:.]+\\])";

/** What of a path is replaced, and the field that says by what. */
const REPLACEMENTS: Readonly<Record<string, string>> = {
  ReplaceFullPath: "replaceFullPath",
  ReplacePrefixMatch: "replacePrefixMatch",
};

/** Gateway API `HTTPPathModifier`. */
export const kubernetesPathModifierSchema = object(
  {
    type: choice("What is replaced.", ["ReplaceFullPath", "ReplacePrefixMatch"]),
    replaceFullPath: anyText({ maxLength: 1024, description: "The whole new path." }),
    replacePrefixMatch: anyText({
      maxLength: 1024,
      description: "What stands in the place of the prefix that the route matched.",
    }),
  },
  {
    description: "What becomes of the path.",
    required: ["type"],
    examples: [{ type: "ReplacePrefixMatch", replacePrefixMatch: "/v2" }],
    checks: Object.entries(REPLACEMENTS).map(([type, field]) => ({
      message: `"${field}" stands with type: ${type}, and only with it`,
      field,
      holds: (path) => (path.type === type) === Object.hasOwn(path, field),
      cel: `(self.type == '${type}') == has(self.${field})`,
    })),
  },
);

/** A validated `path`. */
export function lowerPathModifier(
  value: Infer<typeof pathModifierSchema> | undefined,
): PathModifierConfig | undefined {
  if (value?.full !== undefined) return { kind: "full", value: value.full };
  return value?.prefix === undefined ? undefined : { kind: "prefix", value: value.prefix };
}

/** Gateway API `HTTPPathModifier`, validated. */
export function lowerKubernetesPathModifier(
  value: Infer<typeof kubernetesPathModifierSchema> | undefined,
): PathModifierConfig | undefined {
  if (value === undefined) return undefined;
  return value.type === "ReplaceFullPath"
    ? { kind: "full", value: value.replaceFullPath ?? "/" }
    : { kind: "prefix", value: value.replacePrefixMatch ?? "/" };
}

/** The change to make; undefined when the route has no prefix to replace (reported). */
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
