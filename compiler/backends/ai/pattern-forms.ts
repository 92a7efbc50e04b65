import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import { longText } from "../../manifests/field-types.ts";
import type { PatternConfig } from "../../model/prompt-guards.ts";
import { type Infer, list, object, text } from "../../schema/schema.ts";
import { fileWord } from "../../schema/two-forms.ts";
import { namedPattern, OWN_PATTERN } from "./guard-fields.ts";

const rule = object(
  {
    builtin: namedPattern.file,
    pattern: text(OWN_PATTERN, { maxLength: 1024, isPattern: true }),
  },
  { exactlyOneOf: ["builtin", "pattern"], misplacedFieldHints: { regex: 'write pattern: "…"' } },
);

/** Returns the schema of a list of patterns in a file. */
export function filePatterns(description: string) {
  return list(rule, { minItems: 1, maxItems: 64, description });
}

/** Returns the fields of patterns in manifests. */
export function manifestPatterns() {
  return {
    matches: list(longText(OWN_PATTERN), { description: "Custom patterns." }),
    builtins: list(namedPattern.manifest, { description: "Predefined patterns." }),
  };
}

/** Reads the patterns of a file. */
export function readFilePatterns(
  rules: Infer<ReturnType<typeof filePatterns>>,
  origin: Origin,
): readonly PatternConfig[] {
  return rules.map(({ builtin, pattern = "" }, index) => {
    if (builtin !== undefined) return { kind: "named", name: builtin };
    return { kind: "own", pattern, origin: childOf(origin, index, "pattern") };
  });
}

/** Reads the patterns of manifests; `origin` is that of the object with the fields. */
export function readManifestPatterns(
  { matches = [], builtins = [] }: ManifestPatterns,
  origin: Origin,
): readonly PatternConfig[] {
  return [
    ...builtins.map((name) => ({ kind: "named" as const, name: fileWord(name) })),
    ...matches.map((pattern, index) => ({
      kind: "own" as const,
      pattern,
      origin: childOf(origin, "matches", index),
    })),
  ];
}

type ManifestPatterns = {
  readonly [Field in keyof ReturnType<typeof manifestPatterns>]?:
    | Infer<ReturnType<typeof manifestPatterns>[Field]>
    | undefined;
};
