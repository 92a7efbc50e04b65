import { RE2JS } from "re2js";
import {
  ALTERNATIVE,
  ALTERNATIVE_MATCH,
  ANY_BUT_LINE_FEED,
  ANY_RUNE,
  MATCH,
  RUNE,
} from "../../../runtime/patterns/pattern-codes.ts";
import type { PatternInstruction } from "../../../runtime/patterns/pattern-program.ts";
import { canMatch } from "./can-match.ts";

/** Extent of the matches of a valid pattern. */
export interface MatchBounds {
  /** Maximum length of a match in UTF-16 units; `undefined` if it is unlimited. */
  readonly longest: number | undefined;
  /** Whether it matches in every string, or in none; empty matches do not count. */
  readonly extent: "everything" | "nothing" | "some";
}

const ALTERNATIVES: ReadonlySet<number> = new Set([ALTERNATIVE, ALTERNATIVE_MATCH]);
const ANY_CHARACTERS: ReadonlySet<number> = new Set([ANY_RUNE, ANY_BUT_LINE_FEED]);

/** Computes the extent of the matches of a pattern. */
export function matchBounds(pattern: string): MatchBounds {
  const compiled = RE2JS.compile(pattern);
  const { inst: program, start }: { inst: readonly PatternInstruction[]; start: number } =
    compiled.re2Input.prog;
  const longest = canMatch(program, start) ? maxPath(program, start) : 0;
  if (longest === 0) return { longest, extent: "nothing" };
  const everything = SAMPLES.every((sample) => finds(compiled, sample));
  return { longest, extent: everything ? "everything" : "some" };
}

function finds(pattern: RE2JS, text: string): boolean {
  const matcher = pattern.matcher(text);
  while (matcher.find()) if (matcher.end() > matcher.start()) return true;
  return false;
}

/** Sample strings, of which no useful pattern matches all. */
const SAMPLES = ["a", "Z", "7", " ", ".", "-", "_", '"', "\t", "é", "中", "😀"] as const;

/** Returns the longest path to the end; `undefined` if there is a loop. */
function maxPath(program: readonly PatternInstruction[], start: number): number | undefined {
  const lengths = new Map<number, number | "open">();
  const lengthFrom = (place: number): number | undefined => {
    const known = lengths.get(place);
    if (known === "open") return undefined;
    if (known !== undefined) return known;
    const instruction = program[place];
    if (instruction === undefined) return Number.NEGATIVE_INFINITY;
    lengths.set(place, "open");
    const length = lengthAt(instruction, lengthFrom);
    if (length === undefined) return undefined;
    lengths.set(place, length);
    return length;
  };
  return lengthFrom(start);
}

function lengthAt(
  instruction: PatternInstruction,
  lengthFrom: (place: number) => number | undefined,
): number | undefined {
  const { op, out, arg } = instruction;
  if (op === MATCH) return 0;
  const rest = lengthFrom(out);
  if (rest === undefined) return undefined;
  if (op >= RUNE) return rest + unitsOf(instruction);
  if (!ALTERNATIVES.has(op)) return rest;
  const other = lengthFrom(arg);
  return other === undefined ? undefined : Math.max(rest, other);
}

/** Returns the maximum number of units of a character: two beyond the basic plane. */
function unitsOf({ op, runes }: PatternInstruction): number {
  return ANY_CHARACTERS.has(op) || (runes.at(-1) ?? 0) > 0xffff ? 2 : 1;
}
