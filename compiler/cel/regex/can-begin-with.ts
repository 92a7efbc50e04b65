import { RE2JS } from "re2js";
import {
  ALTERNATIVE,
  ALTERNATIVE_MATCH,
  ANY_BUT_LINE_FEED,
  ANY_RUNE,
  DEAD_END,
  MATCH,
  RUNE,
} from "../../../runtime/patterns/pattern-codes.ts";
import type { PatternInstruction } from "../../../runtime/patterns/pattern-program.ts";

/** Whether a match of a valid pattern may begin with a text without case. Assertions are assumed to hold. */
export function canBeginWith(pattern: string, text: string): boolean {
  const { inst: program, start }: { inst: readonly PatternInstruction[]; start: number } =
    RE2JS.compile(pattern).re2Input.prog;
  let places: readonly number[] = [start];
  for (const character of text) {
    const reached = instructionsFrom(places, program);
    places = reached.filter((each) => takes(each, character)).map(({ out }) => out);
    if (places.length === 0) return false;
  }
  return true;
}

/** Returns the instructions that a program reaches from these places without a character. */
function instructionsFrom(
  places: readonly number[],
  program: readonly PatternInstruction[],
): readonly PatternInstruction[] {
  const open = [...places];
  const seen = new Set<number>();
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const instruction = program[place];
    if (instruction === undefined || seen.has(place)) continue;
    seen.add(place);
    open.push(...placesBehind(instruction));
  }
  return [...seen].flatMap((place) => program[place] ?? []);
}

/** Returns the places that a program reaches from an instruction without a character. */
function placesBehind({ op, out, arg }: PatternInstruction): readonly number[] {
  if (op === ALTERNATIVE || op === ALTERNATIVE_MATCH) return [out, arg];
  return op === MATCH || op === DEAD_END || op >= RUNE ? [] : [out];
}

function takes({ op, runes }: PatternInstruction, character: string): boolean {
  if (op === ANY_RUNE || op === ANY_BUT_LINE_FEED) return true;
  const code = character.codePointAt(0) ?? 0;
  return runes.some((from, at) => at % 2 === 0 && from <= code && code <= (runes[at + 1] ?? from));
}
