import { RE2JS } from "re2js";

/** What a pattern can match, for one that was checked. */
export interface MatchBounds {
  /** UTF-16 units of the longest match; undefined: there is no bound. */
  readonly longest: number | undefined;
  /** Whether it matches any text, or none. */
  readonly extent: "everything" | "nothing" | "some";
}

/** An instruction of a compiled pattern. */
interface Instruction {
  readonly op: number;
  readonly out: number;
  readonly arg: number;
  readonly runes: Int32Array;
}

const alternatives: ReadonlySet<number> = new Set([1, 2]);
const emptyWidth = 4;
const match = 6;
const characters: ReadonlySet<number> = new Set([8, 9, 10, 11]);
const anyCharacters: ReadonlySet<number> = new Set([10, 11]);

const beginText = 4;
const endText = 8;

/** Finds out what a pattern can match. */
export function matchBounds(pattern: string): MatchBounds {
  const compiled = RE2JS.compile(pattern);
  const { inst: program, start }: { inst: readonly Instruction[]; start: number } =
    compiled.re2Input.prog;
  if (!canMatch(program, start)) return { longest: 0, extent: "nothing" };
  const everything = samples.every((sample) => compiled.test(sample));
  const extent = everything ? "everything" : "some";
  return { longest: longestPath(program, start), extent };
}

/** Texts that no pattern has a reason to match all of. */
const samples = ["", "a", "Z", "7", " ", ".", "é"] as const;

/** Whether the end is reached by any text: not where a beginning is asked for after a character, say. */
function canMatch(program: readonly Instruction[], start: number): boolean {
  const seen = new Set<string>();
  const open = [{ place: start, isFirst: true, isLast: false }];
  for (let step = open.pop(); step !== undefined; step = open.pop()) {
    const { place, isFirst, isLast } = step;
    const key = `${place} ${isFirst} ${isLast}`;
    const instruction = program[place];
    if (instruction === undefined || seen.has(key)) continue;
    seen.add(key);
    const { op, out, arg } = instruction;
    if (op === match) return true;
    if (characters.has(op)) {
      if (isLast || !takesAny(instruction)) continue;
      open.push({ place: out, isFirst: false, isLast });
    } else if (op === emptyWidth) {
      if ((arg & beginText) !== 0 && !isFirst) continue;
      open.push({ place: out, isFirst, isLast: isLast || (arg & endText) !== 0 });
    } else {
      open.push({ place: out, isFirst, isLast });
      if (alternatives.has(op)) open.push({ place: arg, isFirst, isLast });
    }
  }
  return false;
}

function takesAny({ op, runes }: Instruction): boolean {
  return anyCharacters.has(op) || runes.length > 0;
}

/** The longest way to the end; undefined: it has a loop. */
function longestPath(program: readonly Instruction[], start: number): number | undefined {
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
  instruction: Instruction,
  lengthFrom: (place: number) => number | undefined,
): number | undefined {
  const { op, out, arg } = instruction;
  if (op === match) return 0;
  const rest = lengthFrom(out);
  if (rest === undefined) return undefined;
  if (characters.has(op)) return rest + unitsOf(instruction);
  if (!alternatives.has(op)) return rest;
  const other = lengthFrom(arg);
  return other === undefined ? undefined : Math.max(rest, other);
}

/** The most units of a character: two beyond the basic plane. */
function unitsOf({ op, runes }: Instruction): number {
  return anyCharacters.has(op) || (runes.at(-1) ?? 0) > 0xffff ? 2 : 1;
}
