import type { Work } from "../work/work.ts";
import { isWordRune, NEWLINE, OPERATION, regexProgram, takesRune } from "./regex-program.ts";

/**
 * Returns a character for each class that neither constants nor patterns distinguish, the most readable first.
 */
export function alphabetOf(
  constants: readonly string[],
  patterns: readonly string[],
  work: Work,
): readonly number[] {
  const instructions = patterns.flatMap((pattern) =>
    regexProgram(pattern).inst.filter(({ op }) => op >= OPERATION.firstRune),
  );
  const single = new Set(constants.flatMap((text) => [...text].map(runeOf)));
  const edges = edgesOf(
    single,
    instructions.map(({ runes }) => runes),
  );
  const ranges = instructions.reduce((sum, { runes }) => sum + Math.log2(2 + runes.length), 0);
  work.spend(edges.length * (8 + ranges));
  const classes = new Map<string, number>();
  edges.forEach((low, index) => {
    const high = (edges[index + 1] ?? 0x110000) - 1;
    if (low >= 0xd800 && high <= 0xdfff) return;
    const rune = readable(low, high);
    const key = [
      single.has(rune) ? rune : "",
      rune === NEWLINE,
      isWordRune(rune),
      instructions.map((each) => (takesRune(each, rune) ? 1 : 0)).join(""),
    ].join("|");
    const known = classes.get(key);
    if (known === undefined || rank(rune) < rank(known)) classes.set(key, rune);
  });
  return [...classes.values()].sort((a, b) => rank(a) - rank(b));
}

/** Returns the sorted boundaries between classes. */
function edgesOf(single: ReadonlySet<number>, ranges: readonly Int32Array[]): readonly number[] {
  const edges = new Set([0, 10, 11, 48, 58, 65, 91, 95, 96, 97, 123, 128, 0x10000]);
  const add = (rune: number): void => {
    edges.add(rune);
    edges.add(rune + 1);
  };
  for (const rune of single) add(rune);
  for (const runes of ranges) {
    for (let at = 0; at + 1 < runes.length; at += 2) {
      edges.add(runes[at] ?? 0);
      edges.add((runes[at + 1] ?? 0) + 1);
    }
    if (runes.length === 1) for (const rune of runes) for (const each of folded(rune)) add(each);
  }
  return [...edges].filter((edge) => edge <= 0x10ffff).sort((a, b) => a - b);
}

/** Returns a character and those with the same case folding, which include the Kelvin sign for K and the long s for S (Unicode CaseFolding). */
function folded(rune: number): readonly number[] {
  const text = String.fromCodePoint(rune);
  const cases = [rune, runeOf(text.toLowerCase()), runeOf(text.toUpperCase())];
  if (/k/i.test(text)) cases.push(0x212a);
  if (/s/i.test(text)) cases.push(0x17f);
  return cases;
}

function runeOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}

/** Returns a readable character of a range, if it has one. */
function readable(low: number, high: number): number {
  const wanted = [0x78, 0x61, 0x2d, 0x20, 0xe9].find((rune) => rune >= low && rune <= high);
  return wanted ?? (low >= 0xd800 && low <= 0xdfff ? 0xe000 : low);
}

/** Ranks characters by readability: letters first, control characters last. */
function rank(rune: number): number {
  if (rune >= 0x61 && rune <= 0x7a) return 0;
  if (rune >= 0x30 && rune <= 0x39) return 1;
  if (rune === 0x2d || rune === 0x2e || rune === 0x2f) return 2;
  if (rune >= 0x41 && rune <= 0x5a) return 3;
  if (rune > 0x20 && rune < 0x7f) return 4;
  if (rune === 0x20) return 5;
  return rune > 0xa0 ? 6 : 7;
}
