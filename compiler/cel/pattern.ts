import { RE2JS, RE2JSSyntaxException } from "re2js";
import type { ExpressionCode } from "../ir.ts";
import type { Span } from "./ast.ts";
import { atLevel, LEVEL, type Level, layOut, stringLiteral } from "./code.ts";
import { arrayText, joined } from "./code-parts.ts";
import { type LiteralMatch, literalsOf, type PatternMatch } from "./pattern-literals.ts";
import { errorSpan } from "./pattern-scan.ts";
import { type CelProblem, Problems } from "./problems.ts";

export type { PatternMatch };

/** The largest program that a pattern may compile to: matching takes time in proportion to it, times the text. */
const MAX_PROGRAM = 1_000;
/** Up to so many alternatives are written out; above, a Set or the engine. */
const CHAIN_LENGTH = 16;

/** The code of a pattern, and how strongly it binds. */
export interface PatternCode extends ExpressionCode {
  readonly level: Level;
}

/**
 * Compiles an RE2 pattern to a TypeScript expression that is true when it matches `subject`, an expression of type
 * string. Literals, prefixes, suffixes and alternations of them become string operations; the rest runs on a linear
 * engine. Mistakes carry offsets in the pattern.
 */
export function compilePattern(
  pattern: string,
  options: { readonly subject: string; readonly match: PatternMatch },
): { readonly code: PatternCode | undefined; readonly problems: readonly CelProblem[] } {
  const problems = checkPattern(pattern);
  if (problems.length > 0) return { code: undefined, problems };
  const code = patternCode(pattern, options);
  const constants = code.constants.map((each) => ({ ...each, text: layOut(each.text) }));
  return { code: { ...code, text: layOut(code.text), constants }, problems };
}

/** The same for a pattern that was checked, with line breaks still to be chosen: as a part of more code. */
export function patternCode(
  pattern: string,
  options: { readonly subject: string; readonly match: PatternMatch },
): PatternCode {
  return stringCode(pattern, options) ?? engineCode(pattern, options);
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

/** A module constant that holds the compiled pattern. */
export function patternConstant(pattern: string): ExpressionCode["constants"][number] {
  const imports = [{ module: "gwc/runtime/cel/pattern", name: "compilePattern" }];
  return { name: "pattern", text: `compilePattern(${stringLiteral(pattern)})`, imports };
}

function engineCode(
  pattern: string,
  options: { readonly subject: string; readonly match: PatternMatch },
): PatternCode {
  const helper = options.match === "full" ? "matchesWhole" : "matchesPart";
  return {
    text: `${helper}(pattern, ${options.subject})`,
    level: LEVEL.primary,
    imports: [{ module: "gwc/runtime/cel/pattern", name: helper }],
    constants: [patternConstant(pattern)],
  };
}

/** String operations that match what the pattern does, when it is made of literals. */
function stringCode(
  pattern: string,
  { subject, match }: { readonly subject: string; readonly match: PatternMatch },
): PatternCode | undefined {
  const literals = literalsOf(pattern, match);
  if (literals === undefined) return undefined;
  const set = setCode(literals, subject);
  if (set !== undefined) return set;
  const isCheap = /^[\w$.?]+$/.test(subject);
  const isRepeated = literals.length > 1 || literals.some(({ isOneLine }) => isOneLine);
  if (literals.length > CHAIN_LENGTH || (isRepeated && !isCheap)) return undefined;
  const code = joined(
    "||",
    literals.map((literal) => literalTest(literal, subject)),
  );
  return { text: code.text, level: code.level, imports: [], constants: [] };
}

/** Many whole literals, or a few for a subject that is not to be evaluated more than once, as a Set. */
function setCode(literals: readonly LiteralMatch[], subject: string): PatternCode | undefined {
  const isWhole = literals.every((each) => each.isStart && each.isEnd && !each.isOneLine);
  if (!isWhole || literals.length <= CHAIN_LENGTH) return undefined;
  const elements = arrayText(literals.map(({ text }) => stringLiteral(text)));
  const constant = {
    name: "names",
    type: "ReadonlySet<string>",
    text: `new Set(${elements})`,
    imports: [],
  };
  return {
    text: `names.has(${subject})`,
    level: LEVEL.primary,
    imports: [],
    constants: [constant],
  };
}

function literalTest(literal: LiteralMatch, subject: string) {
  const operand = atLevel({ text: subject, level: LEVEL.primary }, LEVEL.primary);
  const text = stringLiteral(literal.text);
  const known = { ts: "boolean", mayFail: false } as const;
  const oneLine = { text: `!${operand}.includes("\\n")`, level: LEVEL.unary, ...known };
  if (literal.isStart && literal.isEnd && !literal.isOneLine) {
    return { text: `${operand} === ${text}`, level: LEVEL.equality, ...known };
  }
  if (literal.text === "") {
    return literal.isOneLine ? oneLine : { text: "true", level: LEVEL.primary, ...known };
  }
  const method = literal.isStart ? "startsWith" : literal.isEnd ? "endsWith" : "includes";
  const test = { text: `${operand}.${method}(${text})`, level: LEVEL.primary, ...known };
  return literal.isOneLine ? joined("&&", [test, oneLine]) : test;
}
