import {
  ALTERNATIVE,
  ALTERNATIVE_MATCH,
  ANY_BUT_LINE_FEED,
  ANY_RUNE,
  ASSERTION,
  DEAD_END,
  FOLDS_CASE,
  GROUP_EDGE,
  LINE_BEGINS,
  LINE_ENDS,
  MATCH,
  NO_WORD_BOUNDARY,
  PASSAGE,
  TEXT_BEGINS,
  TEXT_ENDS,
  WORD_BOUNDARY,
} from "../../../runtime/patterns/pattern-codes.ts";
import type { PatternInstruction } from "../../../runtime/patterns/pattern-program.ts";

/** Character next to a position, as far as assertions distinguish; "none" at the start or end of the string. */
type Neighbor = (typeof ALL_NEIGHBORS)[number];

const ALL_NEIGHBORS = ["none", "line-feed", "word", "other"] as const;

/** Whether any string matches: no assertion contradicts another part of the pattern. */
export function canMatch(program: readonly PatternInstruction[], start: number): boolean {
  const open: Step[] = [];
  const seen = new Set<string>();
  const add = (step: Step): void => {
    const key = `${step.place} ${step.before} ${step.next}`;
    if (!seen.has(key)) open.push(step);
    seen.add(key);
  };
  // A match may begin after any character.
  for (const before of ALL_NEIGHBORS)
    for (const next of ALL_NEIGHBORS) add({ place: start, before, next });
  for (let step = open.pop(); step !== undefined; step = open.pop()) {
    const instruction = program[step.place];
    if (instruction === undefined) continue;
    if (instruction.op === MATCH) return true;
    for (const each of stepsFrom(instruction, step)) add(each);
  }
  return false;
}

/** A place in the program, and the character before it. */
interface Step {
  readonly place: number;
  readonly before: Neighbor;
  readonly next: Neighbor;
}

function stepsFrom(instruction: PatternInstruction, { before, next }: Step): readonly Step[] {
  const { op, out, arg } = instruction;
  switch (op) {
    case ALTERNATIVE:
    case ALTERNATIVE_MATCH:
      return [
        { place: out, before, next },
        { place: arg, before, next },
      ];
    case ASSERTION:
      return (arg & ~assertionsBetween(before, next)) === 0 ? [{ place: out, before, next }] : [];
    case DEAD_END:
      return [];
    case GROUP_EDGE:
    case PASSAGE:
      return [{ place: out, before, next }];
    default:
      if (next === "none" || !takes(instruction, next)) return [];
      return ALL_NEIGHBORS.map((after) => ({ place: out, before: next, next: after }));
  }
}

/** Whether an instruction accepts a character of a kind. */
function takes({ op, arg, runes }: PatternInstruction, kind: Exclude<Neighbor, "none">): boolean {
  if (op === ANY_RUNE) return true;
  if (op === ANY_BUT_LINE_FEED) return kind !== "line-feed";
  // The other case of a letter may not be a word character: K, and the Kelvin sign.
  if ((arg & FOLDS_CASE) !== 0) return runes.length > 0 && kind !== "line-feed";
  for (let at = 0; at < runes.length; at += 2) {
    const from = runes[at] ?? 0;
    const to = runes[at + 1] ?? from;
    if (kindRanges[kind].some(([first, last]) => from <= last && to >= first)) return true;
  }
  return false;
}

/** Words consist of ASCII letters, digits and `_`, as in RE2. */
const kindRanges = {
  "line-feed": [[0x0a, 0x0a]],
  word: [
    [0x30, 0x39],
    [0x41, 0x5a],
    [0x5f, 0x5f],
    [0x61, 0x7a],
  ],
  other: [
    [0x00, 0x09],
    [0x0b, 0x2f],
    [0x3a, 0x40],
    [0x5b, 0x5e],
    [0x60, 0x60],
    [0x7b, 0x10ffff],
  ],
} as const;

/** Returns the assertions that hold between two characters. */
function assertionsBetween(before: Neighbor, next: Neighbor): number {
  let holding = (before === "word") === (next === "word") ? NO_WORD_BOUNDARY : WORD_BOUNDARY;
  if (before === "none") holding |= TEXT_BEGINS | LINE_BEGINS;
  if (before === "line-feed") holding |= LINE_BEGINS;
  if (next === "none") holding |= TEXT_ENDS | LINE_ENDS;
  if (next === "line-feed") holding |= LINE_ENDS;
  return holding;
}
