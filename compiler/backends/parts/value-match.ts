import { addProblems } from "../../cel/parse/problems.ts";
import { compileConstantPattern } from "../../cel/regex/pattern.ts";
import { childOf, type Diagnostics, type Origin } from "../../diagnostics/diagnostic.ts";
import type { ValueMatch, ValueMatchConfig } from "../../model/matches.ts";
import { anyText, type Infer, object, shortText, text } from "../../schema/schema.ts";

/** Schema of a header or query parameter with a value, in a file. */
export const valueMatchSchema = object(
  {
    name: shortText("Name of the header or query parameter."),
    value: object(
      {
        exact: anyText({ maxLength: 4096, description: "The value, exactly." }),
        regex: text("A regular expression (RE2) that must match the whole value.", {
          maxLength: 1024,
          isPattern: true,
        }),
      },
      { exactlyOneOf: ["exact", "regex"], description: "Required value." },
    ),
  },
  { required: ["name", "value"] },
);

/** Converts a match to canonical form. */
export function readValueMatch(
  { name, value }: Infer<typeof valueMatchSchema>,
  origin: Origin,
): ValueMatchConfig {
  const kind = value.regex === undefined ? "exact" : "regex";
  return { name, kind, value: value[kind] ?? "", origin: childOf(origin, "value", kind) };
}

/** Compiles the pattern of a match; returns `undefined` if it is invalid (reported). */
export function resolveValueMatch(
  { name, kind, value, origin }: ValueMatchConfig,
  subject: "header" | "query",
  diagnostics: Diagnostics,
): ValueMatch | undefined {
  if (kind === "exact") return { name, value: { kind, value } };
  const { code, problems } = compileConstantPattern(value, { subject, match: "full" });
  addProblems(problems, origin, diagnostics);
  return code === undefined ? undefined : { name, value: { kind, value, test: code } };
}
