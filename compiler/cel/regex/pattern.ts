import type { Expression, HoistedConstant } from "../../../templates/code/hole.ts";
import { name } from "../../../templates/code/names.ts";
import { binary, call, constant, member, negation, value } from "../../../templates/code/syntax.ts";
import { type EmittedValue, helper, joined, setOf, test } from "../emit/emitted-value.ts";
import { isReference } from "../emit/narrowing.ts";
import type { CelProblem } from "../parse/problems.ts";
import { checkPattern } from "./check-pattern.ts";
import { type LiteralMatch, literalsOf, type PatternMatch } from "./pattern-literals.ts";

export type { PatternMatch };

/** Up to so many alternatives are written out; above, a Set or the engine. */
const CHAIN_LENGTH = 16;

/** What a pattern is matched with. */
interface PatternUse {
  /** An expression of type string. */
  readonly subject: Expression;
  readonly match: PatternMatch;
}

/**
 * Compiles an RE2 pattern to a TypeScript expression that is true when it matches the local name `subject`. Literals,
 * prefixes, suffixes and alternations of them become string operations; the rest runs on a linear engine. Mistakes
 * carry offsets in the pattern.
 */
export function compileConstantPattern(
  pattern: string,
  { subject, match }: { readonly subject: string; readonly match: PatternMatch },
): { readonly code: Expression | undefined; readonly problems: readonly CelProblem[] } {
  const problems = checkPattern(pattern);
  if (problems.length > 0) return { code: undefined, problems };
  return { code: patternTest(pattern, { subject: name(subject), match }).expression, problems };
}

/** The same as a part of more code, for a pattern that was checked. */
export function patternTest(pattern: string, use: PatternUse): EmittedValue {
  return literalTests(pattern, use) ?? engineTest(pattern, use);
}

/** A module constant that holds the compiled pattern. */
export function patternConstant(pattern: string): HoistedConstant {
  return constant("pattern", call(helper("functions/pattern#compilePattern"), [value(pattern)]));
}

function engineTest(pattern: string, { subject, match }: PatternUse): EmittedValue {
  const matches = helper(`functions/pattern#${match === "full" ? "matchesWhole" : "matchesPart"}`);
  return test(call(matches, [patternConstant(pattern), subject]));
}

/** String operations that match what the pattern does, when it is made of literals. */
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
