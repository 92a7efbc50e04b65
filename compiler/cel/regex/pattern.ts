import type { Expression, HoistedConstant } from "../../../templates/code/hole.ts";
import { name } from "../../../templates/code/names.ts";
import { binary, call, constant, member, negation, value } from "../../../templates/code/syntax.ts";
import { type EmittedValue, helper, joined, setOf, test } from "../emit/emitted-value.ts";
import { isReference } from "../emit/narrowing.ts";
import type { CelProblem } from "../parse/problems.ts";
import { checkPattern } from "./check-pattern.ts";
import { type LiteralMatch, literalsOf, type PatternMatch } from "./pattern-literals.ts";

export type { PatternMatch };

/** Maximum number of alternatives that become comparisons; more become a Set or use the engine. */
const CHAIN_LENGTH = 16;

/** Use of a pattern. */
interface PatternUse {
  /** An expression of type string. */
  readonly subject: Expression;
  readonly match: PatternMatch;
}

/**
 * Compiles an RE2 pattern to a TypeScript expression that is true if it matches the local variable `subject`. Literals,
 * prefixes, suffixes and alternatives of them become string operations; others use a linear-time engine. Mistakes have
 * offsets in the pattern.
 */
export function compileConstantPattern(
  pattern: string,
  { subject, match }: { readonly subject: string; readonly match: PatternMatch },
): { readonly code: Expression | undefined; readonly problems: readonly CelProblem[] } {
  const problems = checkPattern(pattern);
  if (problems.length > 0) return { code: undefined, problems };
  return { code: patternTest(pattern, { subject: name(subject), match }).expression, problems };
}

/** Emits the test of a valid pattern as a part of other code. */
export function patternTest(pattern: string, use: PatternUse): EmittedValue {
  return literalTests(pattern, use) ?? engineTest(pattern, use);
}

/** Returns a module constant with the compiled pattern. */
export function patternConstant(pattern: string): HoistedConstant {
  return constant("pattern", call(helper("functions/pattern#compilePattern"), [value(pattern)]));
}

function engineTest(pattern: string, { subject, match }: PatternUse): EmittedValue {
  const matches = helper(`functions/pattern#${match === "full" ? "matchesWhole" : "matchesPart"}`);
  return test(call(matches, [patternConstant(pattern), subject]));
}

/** Returns equivalent string operations if the pattern consists of literals. */
function literalTests(pattern: string, { subject, match }: PatternUse): EmittedValue | undefined {
  const literals = literalsOf(pattern, match);
  if (literals === undefined) return undefined;
  const isWhole = literals.every((each) => each.isStart && each.isEnd && !each.isOneLine);
  if (isWhole && literals.length > CHAIN_LENGTH) {
    const set = setOf(
      literals.map(({ text }) => text),
      "string",
    );
    return test(call(member(set.expression, "has"), [subject]));
  }
  const isRepeated = literals.length > 1 || literals.some(({ isOneLine }) => isOneLine);
  if (literals.length > CHAIN_LENGTH || (isRepeated && !isReference(subject))) return undefined;
  return joined(
    "||",
    literals.map((literal) => literalTest(literal, subject)),
  );
}

function literalTest(literal: LiteralMatch, subject: Expression): EmittedValue {
  const text = value(literal.text);
  const oneLine = test(negation(call(member(subject, "includes"), [value("\n")])));
  if (literal.isStart && literal.isEnd && !literal.isOneLine) {
    return test(binary("===", [subject, text]));
  }
  if (literal.text === "") return literal.isOneLine ? oneLine : test(value(true));
  const method = literal.isStart ? "startsWith" : literal.isEnd ? "endsWith" : "includes";
  const found = test(call(member(subject, method), [text]));
  return literal.isOneLine ? joined("&&", [found, oneLine]) : found;
}
