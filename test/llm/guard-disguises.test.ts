import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MODEL_PLACE } from "../../runtime/llm/chat/texts.ts";
import { GuardRun } from "../../runtime/llm/guards/guard-run.ts";
import { guardPattern, maskPatterns } from "../../runtime/llm/guards/pattern-guard.ts";
import { PatternTexts } from "../../runtime/llm/guards/pattern-texts.ts";
import { composedDisguises, cut, disguises } from "./disguises.ts";

const RUNS = process.env.GWC_LONG_TESTS === undefined ? 1_000 : 30_000;
const places = fc.array(fc.nat(200), { maxLength: 6 });

function textsFor(pattern: string, longest: number): PatternTexts {
  return new PatternTexts(
    [maskPatterns([guardPattern(pattern, longest)])],
    new GuardRun("response"),
  );
}

describe("a word that is written in other characters", () => {
  it("is masked where the word is, and nothing else is", () => {
    fc.assert(
      fc.property(disguises, ({ word, disguise }) => {
        const masked = textsFor(word, word.length).replace(`é, ${disguise} !`, MODEL_PLACE);
        expect(masked).toBe("é, <masked> !");
      }),
      { numRuns: RUNS },
    );
  });

  it("is masked as a word of its own", () => {
    fc.assert(
      fc.property(disguises, ({ word, disguise }) => {
        const texts = textsFor(`\\b${word}\\b`, word.length);
        expect(texts.replace(`é, ${disguise} !`, MODEL_PLACE)).toBe("é, <masked> !");
      }),
      { numRuns: RUNS },
    );
  });

  it("is masked in a stream, wherever it is cut", () => {
    fc.assert(
      fc.property(disguises, places, ({ word, disguise }, cuts) => {
        const text = textsFor(word, word.length).open();
        const given = cut(`é, ${disguise} !`, cuts).map((piece) => text.push(piece));
        expect(given.join("") + text.end()).toBe("é, <masked> !");
        const parts = textsFor(word, word.length).openParts();
        const whole = cut(`é, ${disguise} !`, cuts).flatMap((piece) => parts.push(piece));
        expect([...whole, ...parts.end()].join("")).toBe("é, <masked> !");
      }),
      { numRuns: RUNS },
    );
  });

  it("is masked where a pattern asks for letters with marks, syllables, and other scripts", () => {
    fc.assert(
      fc.property(composedDisguises, places, ({ word, disguise }, cuts) => {
        const texts = textsFor(word, word.length);
        expect(texts.replace(`é, ${disguise} !`, MODEL_PLACE)).toBe("é, <masked> !");
        const text = texts.open();
        const given = cut(`é, ${disguise} !`, cuts).map((piece) => text.push(piece));
        expect(given.join("") + text.end()).toBe("é, <masked> !");
      }),
      { numRuns: RUNS },
    );
  });

  it("is not hidden by many tags: a string with more than a few hundred is forwarded without them", () => {
    const tags = "a\u{e0078}".repeat(1_000);
    const hidden = Array.from("secret", (each) =>
      String.fromCodePoint(0xe0000 + each.charCodeAt(0)),
    );
    const texts = textsFor("secret", 6);
    expect(texts.replace(`${tags}${hidden.join("")} secret`, MODEL_PLACE)).toBe(
      `${"a".repeat(1_000)} <masked>`,
    );
    const text = texts.open();
    const given = [...tags.split(""), ...hidden, " secret"].map((piece) => text.push(piece));
    const output = given.join("") + text.end();
    expect(output.endsWith("<masked>")).toBe(true);
    expect(output).not.toContain(hidden.join(""));
  });
});
