import { RE2JS } from "re2js";

/** An instruction of RE2's program for a pattern. */
export interface Instruction {
  /** What it does: one of `OPERATION`, or a test of a character. */
  readonly op: number;
  readonly out: number;
  readonly arg: number;
  /** Ranges of characters, as pairs; one alone is itself. */
  readonly runes: Int32Array;
  matchRune(rune: number): boolean;
}

/** RE2's program for a pattern: what it matches with. */
export interface RegexProgram {
  readonly start: number;
  readonly inst: readonly Instruction[];
}

/** What instructions do that test no character; those from `firstRune` on test one. */
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

/** The program of a pattern that was checked. */
export function regexProgram(pattern: string): RegexProgram {
  const compiled: unknown = RE2JS.compile(pattern);
  // `as`: the package keeps its program to itself; the test of patterns holds it against what it matches
  return (compiled as { readonly re2Input: { readonly prog: RegexProgram } }).re2Input.prog;
}

/** Whether an instruction takes a character. */
export function takesRune(instruction: Instruction, rune: number): boolean {
  if (instruction.op === OPERATION.anyRune) return true;
  if (instruction.op === OPERATION.anyRuneNotNewline) return rune !== NEWLINE;
  return instruction.matchRune(rune);
}

/** RE2's word characters. */
export function isWordRune(rune: number): boolean {
  return (
    (rune >= 0x30 && rune <= 0x39) ||
    (rune >= 0x41 && rune <= 0x5a) ||
    (rune >= 0x61 && rune <= 0x7a) ||
    rune === 0x5f
  );
}

/** The line feed. */
export const NEWLINE = 0x0a;
