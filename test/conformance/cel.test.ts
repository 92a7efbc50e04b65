import { describe, expect, it } from "vitest";
import { casesOf, compileCase, evaluate, type SpecCase } from "./cel-spec-suite.ts";
import { isExpected } from "./cel-spec-values.ts";

/** Files of the suite that every implementation must pass, and how many cases each has without protocol buffers. */
const CORE = {
  basic: 43,
  bindings_ext: 5,
  comparisons: 334,
  conversions: 109,
  fields: 60,
  fp_math: 30,
  integer_math: 64,
  lists: 39,
  logic: 30,
  macros: 44,
  namespace: 3,
  parse: 193,
  plumbing: 5,
  string: 51,
  timestamps: 75,
  type_deductions: 12,
} as const;

const EXTENSIONS = {
  string_ext: 206,
  math_ext: 199,
  encoders_ext: 4,
  optionals: 59,
  macros2: 46,
} as const;

const FILES = [...Object.entries(CORE), ...Object.entries(EXTENSIONS)];

/** Syntax that the parser does not read: numbers without a leading digit, quoted fields, raw bytes, optional elements. */
const NOT_PARSED = {
  core: [
    "comparisons/gt_literal/not_gt_double",
    "fields/quoted_map_fields/field_access_slash",
    "fields/quoted_map_fields/field_access_dash",
    "fields/quoted_map_fields/field_access_dot",
    "fields/quoted_map_fields/has_field_slash",
    "fields/quoted_map_fields/has_field_dash",
    "fields/quoted_map_fields/has_field_dot",
    "parse/bytes_literals/raw_single_quoted_escapes",
    "parse/bytes_literals/raw_double_quoted_escapes",
    "parse/bytes_literals/raw_triple_single_quoted_escapes",
    "parse/bytes_literals/raw_triple_double_quoted_escapes",
    "parse/bytes_literals/upper_raw_single_quoted_escapes",
    "parse/bytes_literals/upper_raw_double_quoted_escapes",
    "parse/bytes_literals/upper_raw_triple_single_quoted_escapes",
    "parse/bytes_literals/upper_raw_triple_double_quoted_escapes",
  ],
  extensions: [
    "optionals/optionals/optional_chaining_12",
    "optionals/optionals/optional_chaining_13",
    "optionals/optionals/optional_chaining_14",
    "optionals/optionals/optional_chaining_15",
    "optionals/optionals/optional_chaining_16",
    "optionals/optionals/map_optional_entry_has",
  ],
};

const notParsed: ReadonlySet<string> = new Set([...NOT_PARSED.core, ...NOT_PARSED.extensions]);

/** Expressions for which cel-go infers a more precise type. */
const OTHER_TYPE: ReadonlySet<string> = new Set([
  // an index into an optional of unknown content
  "optionals/optionals/optional_chaining_5",
]);

function isMet(each: SpecCase): boolean {
  const value = evaluate(each, "value");
  return each.expected === undefined ? value === undefined : isExpected(value, each.expected);
}

function parsedCases(file: string): readonly SpecCase[] {
  return casesOf(file).filter(({ name }) => !notParsed.has(name));
}

describe("the official CEL suite", () => {
  it.each(FILES)(
    "every case of %s that the parser reads gives the expected value",
    (file, _count) => {
      const failed = parsedCases(file).filter((each) => !isMet(each));
      expect(failed.map(({ name, expression }) => `${name}: ${expression}`)).toEqual([]);
    },
  );

  it.each(FILES)("%s has the number of cases that it is known to have", (file, count) => {
    expect(casesOf(file)).toHaveLength(count);
  });

  it("each case that is listed as not parsed is refused as a syntax error", () => {
    const refused = FILES.flatMap(([file]) => casesOf(file)).filter(({ name }) =>
      notParsed.has(name),
    );
    expect(refused).toHaveLength(notParsed.size);
    for (const each of refused) {
      expect(compileCase(each, "value").problems.map(({ code }) => code)).toEqual(["cel-syntax"]);
    }
    expect(NOT_PARSED.core.length).toBeLessThanOrEqual(20);
  });

  it("a case that expects a value is never met by a compile error", () => {
    const refused = FILES.flatMap(([file]) => parsedCases(file)).filter(
      (each) => each.expected !== undefined && compileCase(each, "value").expression === undefined,
    );
    expect(refused.map(({ name }) => name)).toEqual([]);
  });

  it("inferred types are those of cel-go", () => {
    const different = FILES.flatMap(([file]) => parsedCases(file)).filter((each) => {
      const { expression } = compileCase(each, "value");
      const isCompared = each.type !== undefined && !each.isUnchecked && expression !== undefined;
      return isCompared && expression.type !== each.type;
    });
    expect(different.map(({ name }) => name)).toEqual([...OTHER_TYPE]);
  });

  it("a rule is true exactly when its value is, and a deny rule passes exactly what is false", () => {
    let count = 0;
    for (const each of FILES.flatMap(([file]) => parsedCases(file))) {
      const { expression } = compileCase(each, "value");
      if (expression?.type !== "bool" && expression?.type !== "dyn") continue;
      const value = evaluate(each, "value");
      expect(evaluate(each, "allow"), each.name).toBe(value === true);
      expect(evaluate(each, "deny"), each.name).toBe(value !== false);
      count += 1;
    }
    expect(count).toBeGreaterThan(800);
  });
});
