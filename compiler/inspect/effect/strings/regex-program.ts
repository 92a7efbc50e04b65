import { RE2JS } from "re2js";

/** An instruction of RE2's program for a pattern. */
export interface Instruction {
  /** One of `OPERATION`, or a character test. */
  readonly op: number;
  readonly out: number;
  readonly arg: number;
  /** Character ranges as pairs; a single element is one character. */
  readonly runes: Int32Array;
  matchRune(rune: number): boolean;
}

/** RE2's program for a pattern. */
export interface RegexProgram {
  readonly start: number;
  readonly inst: readonly Instruction[];
}

/** Operation codes; those from `firstRune` on test a character. */
export const OPERATION = {
  alternative: 1,
  alternativeMatch: 2,
  capture: 3,
  emptyWidth: 4,
  match: 6,
  noOperation: 7,
  firstRune: 8,
  anyRune: 10,
  anyRuneNotNewline: 11,
} as const;

/** Returns the program of a valid pattern. */
export function regexProgram(pattern: string): RegexProgram {
  const compiled: unknown = RE2JS.compile(pattern);
  // `as`: the package does not export its program; a test verifies it against actual matches.
  return (compiled as { readonly re2Input: { readonly prog: RegexProgram } }).re2Input.prog;
}

/** Whether an instruction accepts a character. */
export function takesRune(instruction: Instruction, rune: number): boolean {
  if (instruction.op === OPERATION.anyRune) return true;
  if (instruction.op === OPERATION.anyRuneNotNewline) return rune !== NEWLINE;
  return instruction.matchRune(rune);
}

/** Whether RE2 counts a character as a word character. */
export function isWordRune(rune: number): boolean {
  return (
    (rune >= 0x30 && rune <= 0x39) ||
    (rune >= 0x41 && rune <= 0x5a) ||
    (rune >= 0x61 && rune <= 0x7a) ||
    rune === 0x5f
  );
}

/** Line feed. */
export const NEWLINE = 0x0a;
