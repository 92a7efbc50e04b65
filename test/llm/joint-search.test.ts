import { RE2JS } from "re2js";
import { expect, it } from "vitest";
import { matchBounds } from "../../compiler/cel/regex/match-bounds.ts";
import { GuardRun } from "../../runtime/llm/guards/guard-run.ts";
import { maskPatterns } from "../../runtime/llm/guards/pattern-guard.ts";
import { PatternTexts } from "../../runtime/llm/guards/pattern-texts.ts";
import { JointSearch } from "../../runtime/patterns/joint-search.ts";
import { characterReader } from "../../runtime/patterns/reading.ts";
import { Replacement } from "../../runtime/patterns/replacement.ts";
import { Search } from "../../runtime/patterns/search.ts";
import { seeded } from "./seeded.ts";

/** Number of sets of patterns, each tried with TEXTS texts. */
const SETS = process.env.GWC_LONG_TESTS === "1" ? 2_000 : 60;
const TEXTS = 40;

const ATOMS = [
  "a",
  "b",
  "ab",
  "[ab]",
  "[^a]",
  "\\d",
  "\\w",
  ".",
  "(?i:k)",
  "é",
  "\\s",
  "1-1",
  "x@",
];
const EDGES = ["\\b", "\\B", "^", "$", "(?m:^)", "(?m:$)"];
const LETTERS = [
  "a",
  "b",
  "1",
  "-",
  " ",
  "\n",
  "k",
  "K",
  "é",
  "e\u0301",
  "@",
  "x",
  "’",
  "😀",
  "\u212a",
];
const RARE = [
  "\u0000",
  "\u007f",
  "\u{e0061}",
  "\u{e0031}",
  "\u200b",
  "ａ",
  "\u2028",
  "\ud83d",
  "م",
];

it("the searches of a set that match are those that match alone, as RE2 does", () => {
  const random = seeded(47);
  let known = 0;
  let matches = 0;
  for (let set = 0; set < SETS; set++) {
    const patterns = Array.from({ length: 1 + random(5) }, () => pattern(random));
    const searches = patterns.map((each) => {
      const longest = matchBounds(each).longest ?? 64;
      return new Search({ pattern: RE2JS.compile(each), longest });
    });
    const joint = JointSearch.of(searches);
    for (let count = 0; count < TEXTS; count++) {
      const text = textOf(random);
      const reading = characterReader.readingOf(text);
      const found = joint?.matching(text, reading);
      for (const [index, search] of searches.entries()) {
        const name = `${patterns[index]} in ${JSON.stringify(text)}`;
        const isFound = found?.has(search) ?? true;
        if (reading === undefined && found !== undefined) {
          known += 1;
          const is = RE2JS.compile(patterns[index] ?? "")
            .matcher(text)
            .find();
          if (is) matches += 1;
          expect(isFound, name).toBe(is);
        }
        const alone = new Replacement(search, "#");
        alone.replace(text, search.readingOf(text, reading));
        if (alone.matches > 0) expect(isFound, name).toBe(true);
      }
    }
  }
  expect(known).toBeGreaterThan(SETS * 20);
  expect(matches).toBeGreaterThan(SETS * 5);
});

it("texts are guarded as by each pattern after the other, whole and in pieces", () => {
  const random = seeded(48);
  for (let set = 0; set < SETS; set++) {
    const guards = Array.from({ length: 1 + random(3) }, () => {
      const patterns = Array.from({ length: 1 + random(2) }, () => {
        const written = pattern(random);
        const longest = matchBounds(written).longest ?? 64;
        return { search: new Search({ pattern: RE2JS.compile(written), longest }), mask: "<m>" };
      });
      return maskPatterns(patterns);
    });
    const run = new GuardRun("request");
    const joined = new PatternTexts(guards, run);
    const alone = new PatternTexts(guards, run, undefined, null);
    for (let count = 0; count < TEXTS; count++) {
      const text = textOf(random);
      const place = { role: "user", part: "messages" } as const;
      expect(joined.replace(text, place), JSON.stringify(text)).toBe(alone.replace(text, place));
      const [some, others] = [joined.openParts(), alone.openParts()];
      const pieces = text.match(/[\s\S]{1,3}/g) ?? [];
      const given = (parts: typeof some) =>
        [...pieces.flatMap((piece) => parts.push(piece)), ...parts.end()].join("");
      expect(given(some), JSON.stringify(text)).toBe(given(others));
    }
  }
});

it("a search of many texts with ever new states stays within its bounds", () => {
  const search = new Search({ pattern: RE2JS.compile("(?:a|b)*a(?:a|b){11}c"), longest: 64 });
  const joint = JointSearch.of([search]);
  const random = seeded(49);
  for (let count = 0; count < 300; count++) {
    const text = Array.from({ length: 400 }, () => "ab"[random(2)]).join("");
    expect(joint?.matching(text, undefined)?.has(search) ?? false).toBe(false);
    const found = joint?.matching(`${text}a${"b".repeat(11)}c`, undefined);
    expect(found?.has(search) ?? true).toBe(true);
  }
});

function pattern(random: (below: number) => number): string {
  const part = (): string => {
    const atom = ATOMS[random(ATOMS.length)] ?? "a";
    const many = ["", "", "", "+", "*", "?", "{2}", "{1,3}"][random(8)] ?? "";
    const whole = `(?:${atom})${many}`;
    const edge = EDGES[random(EDGES.length)] ?? "";
    return [whole, whole, whole, whole + edge, edge + whole][random(5)] ?? whole;
  };
  const parts = Array.from({ length: 1 + random(3) }, part).join("");
  return random(4) === 0 ? `(?:${parts}|${part()}${part()})` : parts;
}

function textOf(random: (below: number) => number): string {
  const rare = random(4) === 0 ? RARE : [];
  const letters = random(3) === 0 ? LETTERS.slice(0, 7) : [...LETTERS, ...rare];
  return Array.from({ length: random(24) }, () => letters[random(letters.length)]).join("");
}
