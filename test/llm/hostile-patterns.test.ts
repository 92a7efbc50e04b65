import { RE2JS } from "re2js";
import { expect, it } from "vitest";
import { matchBounds } from "../../compiler/cel/regex/match-bounds.ts";
import { Replacement } from "../../runtime/patterns/replacement.ts";
import { Search } from "../../runtime/patterns/search.ts";
import { hostilePatterns } from "./hostile-patterns.ts";

/** The most times that each character of a text is looked at. */
const looks = 40;

it.each(hostilePatterns)(
  "reads texts few times, however hostile they are: %s",
  (pattern, ...units) => {
    const { longest = 1_024 } = matchBounds(pattern);
    const search = new Search({ pattern: RE2JS.compile(pattern), longest });
    for (const unit of units) {
      for (const end of ["", "!"]) {
        const text = unit.repeat(3_000 / unit.length) + end;
        const replace = () => new Replacement(search, "-").replace(text, undefined);
        // States of the automaton are made once.
        replace();
        expect(looksDuring(replace) / text.length, `${unit}...${end}`).toBeLessThan(looks);
      }
    }
  },
);

it.each(hostilePatterns)("matches what RE2 matches: %s", (pattern, ...units) => {
  const { longest = 1_024 } = matchBounds(pattern);
  const search = new Search({ pattern: RE2JS.compile(pattern), longest });
  for (const unit of units) {
    for (const end of ["b", "c d;e"]) {
      const text = unit.repeat(30 / unit.length) + end;
      expect(new Replacement(search, "-").replace(text, undefined), text).toBe(
        masked(pattern, text),
      );
      const stream = new Replacement(search, "-");
      const pieces = text.match(/.{1,7}/gs) ?? [];
      const streamed = pieces.map((each) => stream.push(each)).join("") + stream.end();
      expect(streamed, text).toBe(masked(pattern, text));
    }
  }
});

it.each([
  ["$|ab", "a"],
  ["\\B|ab", "a b"],
  ["(?m:$)b|\\B|[^a]\\sb", "cca  aa"],
])("masks no character before an empty match: %s", (pattern, text) => {
  const { longest = 1_024 } = matchBounds(pattern);
  const search = new Search({ pattern: RE2JS.compile(pattern), longest });
  expect(new Replacement(search, "-").replace(text, undefined)).toBe(text);
});

/** Masks the matches of RE2, except empty ones, which have nothing to mask. */
function masked(pattern: string, text: string): string {
  const matcher = RE2JS.compile(pattern).matcher(text);
  let given = "";
  let at = 0;
  for (let from = 0; from <= text.length && matcher.find(from); ) {
    if (matcher.end() === matcher.start()) {
      from = matcher.end() + 1;
      continue;
    }
    given += `${text.slice(at, matcher.start())}-`;
    at = matcher.end();
    from = at;
  }
  return given + text.slice(at);
}

/** How often characters are looked at in a text. */
function looksDuring(work: () => void): number {
  const { prototype } = String;
  const own = Object.getOwnPropertyDescriptors(prototype);
  let count = 0;
  const counted = <T>(read: (this: string, at: number) => T) =>
    function (this: string, at: number): T {
      count += 1;
      return read.call(this, at);
    };
  const { charCodeAt, codePointAt } = prototype;
  Object.defineProperty(prototype, "charCodeAt", { ...own.charCodeAt, value: counted(charCodeAt) });
  Object.defineProperty(prototype, "codePointAt", {
    ...own.codePointAt,
    value: counted(codePointAt),
  });
  try {
    work();
  } finally {
    Object.defineProperty(prototype, "charCodeAt", own.charCodeAt);
    Object.defineProperty(prototype, "codePointAt", own.codePointAt);
  }
  return count;
}
