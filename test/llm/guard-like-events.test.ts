import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MODEL_PLACE } from "../../runtime/llm/chat/texts.ts";
import { completionsTexts } from "../../runtime/llm/formats/completions/texts.ts";
import { guardPattern, maskPatterns } from "../../runtime/llm/guards/pattern-guard.ts";
import { textsFor } from "./pattern-texts.ts";

describe("events that are like the one before", () => {
  const event = (delta: object, filling: string) =>
    `data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta, finish_reason: null }], obfuscation: filling })}\n\n`;
  const words = fc.array(fc.constantFrom("a", "b", "c", "abcd", '"', "é", "\n", " "), {
    minLength: 1,
    maxLength: 4,
  });
  const runs = fc.array(fc.array(words, { minLength: 1, maxLength: 4 }), { maxLength: 5 });

  it("are masked as others are, whatever fills them, and where texts take turns", () => {
    const guards = [maskPatterns([guardPattern("abcd|bc", 4)])];
    const given = fc.property(runs, (all) => {
      const texts = completionsTexts.openStream(textsFor(guards));
      const key = (at: number) => (at % 2 === 0 ? "content" : "reasoning_content");
      const events = all.flatMap((run, at) =>
        [...run, [" "]].map((each, index) =>
          event({ [key(at)]: each.join("") }, "x".repeat(index)),
        ),
      );
      const output = events
        .flatMap((each) => texts.see(Buffer.from(each)))
        .concat(texts.end())
        .map((each) => JSON.parse(each.toString().slice(6)).choices[0].delta);
      for (const name of ["content", "reasoning_content"]) {
        const expected = all
          .filter((_, at) => key(at) === name)
          .map((run) => textsFor(guards).replace(`${run.flat().join("")} `, MODEL_PLACE));
        expect(output.map((delta) => delta[name] ?? "").join("")).toBe(expected.join(""));
      }
    });
    fc.assert(given, { numRuns: 2_000 });
  });

  it.each([
    ['{"content":"a","content":"SECRET"}', "a duplicate string"],
    ['{"content":"a","refusal":"SECRET"}', "another string next to it"],
    ['{"content":"SE\\u0043RET"}', "a text in escapes"],
  ])("%s is read whole: it has %s", (delta) => {
    const texts = completionsTexts.openStream(
      textsFor([maskPatterns([guardPattern("SECRET", 6)])]),
    );
    const written = (each: string) =>
      `data: {"choices":[{"index":0,"delta":${each},"finish_reason":null}]}\n\n`;
    const events = [written('{"content":"b"}'), written(delta), written(delta)];
    const output = events.flatMap((each) => texts.see(Buffer.from(each))).concat(texts.end());
    expect(output.join("")).not.toMatch(/SECRET|SE\\u0043RET/);
    expect(output.join("")).toContain("<masked>");
  });
});
