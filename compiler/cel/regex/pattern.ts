import { RE2JS, RE2JSSyntaxException } from "re2js";
import type { ExpressionCode, HoistedConstant } from "../../ir/expressions.ts";
import {
  atPrecedence,
  callText,
  EmitContext,
  format,
  PRECEDENCE,
  type Precedence,
  stringCode,
  stringLiteral,
} from "../emit/code.ts";
import { arrayText, joined } from "../emit/code-parts.ts";
import type { Span } from "../parse/ast.ts";
import { type CelProblem, Problems } from "../parse/problems.ts";
import { type LiteralMatch, literalsOf, type PatternMatch } from "./pattern-literals.ts";
import { errorSpan } from "./pattern-scan.ts";

export type { PatternMatch };

/** The largest program that a pattern may compile to: matching takes time in proportion to it, times the text. */
const MAX_PROGRAM = 1_000;
/** Up to so many alternatives are written out; above, a Set or the engine. */
const CHAIN_LENGTH = 16;

/** The code of a pattern, and how strongly it binds. */
export interface PatternCode extends ExpressionCode {
  readonly level: Precedence;
}

/**
 * Compiles an RE2 pattern to a TypeScript expression that is true when it matches `subject`, an expression of type
 * string. Literals, prefixes, suffixes and alternations of them become string operations; the rest runs on a linear
 * engine. Mistakes carry offsets in the pattern.
 */
export function compileConstantPattern(
  pattern: string,
  options: { readonly subject: string; readonly match: PatternMatch },
): { readonly code: PatternCode | undefined; readonly problems: readonly CelProblem[] } {
  const problems = checkPattern(pattern);
  if (problems.length > 0) return { code: undefined, problems };
  const context = new EmitContext();
  const { text, level } = patternCode(pattern, options, context);
  const { imports, constants } = context;
  return {
    code: { text: format(text), level, imports, constants: constants.map(laidOut) },
    problems,
  };
}

function laidOut(constant: HoistedConstant): HoistedConstant {
  return { ...constant, text: format(constant.text) };
}

interface PatternUse {
  readonly subject: string;
  readonly match: PatternMatch;
}

/** The same as a part of more code, for a pattern that was checked: what it needs goes to the surroundings. */
export function patternCode(
  pattern: string,
  use: PatternUse,
  context: EmitContext,
): { readonly text: string; readonly level: Precedence } {
  return literalCode(pattern, use, context) ?? engineCode(pattern, use, context);
}

/** What is wrong with a pattern: at most one problem, for reading stops at the first. */
export function checkPattern(pattern: string): readonly CelProblem[] {
  const problems = new Problems();
  try {
    const size = RE2JS.compile(pattern).programSize();
    if (size > MAX_PROGRAM) {
      problems.report("cel-pattern-size", [0, pattern.length], { limit: MAX_PROGRAM });
    }
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) {
      problems.report("cel-pattern-size", [0, pattern.length], { limit: MAX_PROGRAM });
      return problems.list;
    }
    const span: Span = errorSpan(pattern, error.error, error.input ?? "");
    problems.report("cel-pattern", span, { problem: error.error });
  }
  return problems.list;
}

/** A module constant that holds the compiled pattern: its name. */
export function patternConstant(pattern: string, context: EmitContext): string {
  const imports = [{ module: "gwc/runtime/cel/functions/pattern", name: "compilePattern" }];
  return context.constant(
    "pattern",
    callText("compilePattern", [stringCode(pattern).text]),
    imports,
  );
}

function engineCode(pattern: string, { subject, match }: PatternUse, context: EmitContext) {
  const helper = context.helper(
    `functions/pattern#${match === "full" ? "matchesWhole" : "matchesPart"}`,
  );
  const constant = patternConstant(pattern, context);
  return { text: `${helper}(${constant}, ${subject})`, level: PRECEDENCE.primary };
}

/** String operations that match what the pattern does, when it is made of literals. */
function literalCode(pattern: string, { subject, match }: PatternUse, context: EmitContext) {
  const literals = literalsOf(pattern, match);
  if (literals === undefined) return undefined;
  const isWhole = literals.every((each) => each.isStart && each.isEnd && !each.isOneLine);
  if (isWhole && literals.length > CHAIN_LENGTH) {
    const elements = arrayText(literals.map(({ text }) => stringLiteral(text)));
    const set = context.constant("names", `new Set(${elements})`, [], "ReadonlySet<string>");
    return { text: `${set}.has(${subject})`, level: PRECEDENCE.primary };
  }
  const isCheap = /^[\w$.?\ue003\ue004]+$/.test(subject);
  const isRepeated = literals.length > 1 || literals.some(({ isOneLine }) => isOneLine);
  if (literals.length > CHAIN_LENGTH || (isRepeated && !isCheap)) return undefined;
  return joined(
    "||",
    literals.map((literal) => literalTest(literal, subject)),
  );
}

function literalTest(literal: LiteralMatch, subject: string) {
  const operand = atPrecedence({ text: subject, level: PRECEDENCE.primary }, PRECEDENCE.primary);
  const text = stringLiteral(literal.text);
  const known = { ts: "boolean", mayFail: false } as const;
  const oneLine = { text: `!${operand}.includes("\\n")`, level: PRECEDENCE.unary, ...known };
  if (literal.isStart && literal.isEnd && !literal.isOneLine) {
    return { text: `${operand} === ${text}`, level: PRECEDENCE.equality, ...known };
  }
  if (literal.text === "") {
    return literal.isOneLine ? oneLine : { text: "true", level: PRECEDENCE.primary, ...known };
  }
  const method = literal.isStart ? "startsWith" : literal.isEnd ? "endsWith" : "includes";
  const test = { text: `${operand}.${method}(${text})`, level: PRECEDENCE.primary, ...known };
  return literal.isOneLine ? joined("&&", [test, oneLine]) : test;
}
