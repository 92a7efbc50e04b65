import { describe, expect, it } from "vitest";
import { matchBounds } from "../../compiler/cel/regex/match-bounds.ts";
import type { JsonObject } from "../../runtime/cel/variables.ts";
import { MODEL_PLACE, type TextFormat } from "../../runtime/llm/chat/texts.ts";
import { completionsTexts } from "../../runtime/llm/formats/completions/texts.ts";
import { messagesTexts } from "../../runtime/llm/formats/messages/texts.ts";
import { responsesTexts } from "../../runtime/llm/formats/responses/texts.ts";
import { GuardRun } from "../../runtime/llm/guards/guard-run.ts";
import { membersMap } from "../../runtime/llm/guards/guarded-object.ts";
import * as named from "../../runtime/llm/guards/named-patterns.ts";
import { guardPattern, maskPatterns } from "../../runtime/llm/guards/pattern-guard.ts";
import { patternGuards } from "../../runtime/llm/guards/pattern-step.ts";
import { PatternTexts } from "../../runtime/llm/guards/pattern-texts.ts";
import { cpuMillis } from "../compiler/cel/cpu-time.ts";

const builtins = [named.ssn(), named.creditCard(), named.phoneNumber(), named.email()];
const key = guardPattern("(sk|ghp)[-_][A-Za-z0-9]{20,60}", 64);
const open = guardPattern("key=\\S+", 1_024);
const guards = [maskPatterns([...builtins, key, open])];

/** A text of a stream that arrives in pieces. */
function streamed(pieces: readonly string[], patterns = guards): string {
  const guard = new PatternTexts(patterns, new GuardRun("response")).open();
  return pieces.map((each) => guard.push(each)).join("") + guard.end();
}

function own(pattern: string, text: string): string {
  const { longest = 1_024 } = matchBounds(pattern);
  const texts = new PatternTexts(
    [maskPatterns([guardPattern(pattern, longest)])],
    new GuardRun("request"),
  );
  return texts.replace(text, MODEL_PLACE);
}

/** Ten times as much at once takes no more than some times what it takes in ten parts; clocks of processors are coarse. */
function expectLinear(run: (count: number) => void, count: number): void {
  const inParts = cpuMillis(() => {
    for (let part = 0; part < 10; part += 1) run(count);
  }, 3);
  expect(cpuMillis(() => run(10 * count), 3)).toBeLessThan(4 * inParts + 40);
}

describe("a secret that is written in another way", () => {
  it.each([
    ["with spaces of no width", "4111\u200b 1111 1\u200d111 11\u206011", "<CREDIT_CARD>"],
    ["with soft hyphens", "ann@exa\u00admple.c\u00adom", "<EMAIL_ADDRESS>"],
    ["with variation selectors", "4\ufe0f1\ufe0f1\ufe0f1\ufe0f 1111 1111 1111", "<CREDIT_CARD>"],
    ["with tags", "123-4\u{e0061}5-6789", "<SSN>"],
    ["in fullwidth characters", "ａｎｎ＠ｅｘａｍｐｌｅ．ｃｏｍ", "<EMAIL_ADDRESS>"],
    ["in mathematical letters", "\u{1d5cc}\u{1d5c4}-abcdefghijklmnopqrstuvwxyz", "<masked>"],
    ["in circled digits", "①②③-④⑤-⑥⑦⑧⑨", "<SSN>"],
    ["in digits of another script", "١٢٣-٤٥-٦٧٨٩", "<SSN>"],
    ["in key caps", "1️⃣2️⃣3️⃣-4️⃣5️⃣-6️⃣7️⃣8️⃣9\ufe0f", "<SSN>\ufe0f"],
    ["with strokes", "1\u03362\u03363\u0336-45-6789", "<SSN>"],
    ["with other dashes and spaces", "(212)\u00a0555\u20110142", "<PHONE_NUMBER>"],
    ["from right to left", "\u202e123-45-6789\u202c", "\u202e<SSN>\u202c"],
  ])("%s is masked, whole and in a stream", (_, text, masked) => {
    const whole = `é ${text}, 😀 ｆｉｎｅ`;
    const expected = `é ${masked}, 😀 ｆｉｎｅ`;
    const texts = new PatternTexts(guards, new GuardRun("request"));
    expect(texts.replace(whole, MODEL_PLACE)).toBe(expected);
    expect(streamed(whole.split(""))).toBe(expected);
    expect(streamed([whole])).toBe(expected);
  });

  it("keeps no more of a stream waiting for that", () => {
    const guard = new PatternTexts(guards, new GuardRun("response")).open();
    let waited = guard.push("4111 ").length;
    expect(waited).toBe(0);
    for (let i = 0; i < 100; i++) waited += guard.push("\u200b".repeat(1_000)).length;
    const rest = guard.push("x") + guard.end();
    expect(rest.replaceAll("\u200b", "")).toBe("4111 x");
    expect(rest.length).toBeLessThan(3_000);
  });

  it("what is no secret stays as it is written", () => {
    const text = "Ｈｅｌｌｏ，世界。Été: 12–13\u00a0h, 👩\u200d👩\u200d👧, n\u0303, ﬁn ①";
    expect(streamed(text.split(""))).toBe(text);
    expect(new PatternTexts(guards, new GuardRun("request")).replace(text, MODEL_PLACE)).toBe(text);
  });

  it.each([
    ["[\\x{200b}-\\x{200f}]", "a\u200bb", "a<masked>b"],
    ["[０-９]{2}", "１２ 12", "<masked> 12"],
    ["–", "12–13 - 14", "12<masked>13 - 14"],
    ["[^\\x00-\\x7f]", "a\u200bé", "a<masked><masked>"],
    ["\\p{Cf}", "a\u00adb", "a<masked>b"],
    ["[-–]", "1–2", "1<masked>2"],
    ["\\p{L}+", "ａb", "<masked>"],
    ["Müller-\\d+", "Müller-\u200b１２", "<masked>"],
  ])("a pattern that asks for the writing sees it: %s", (pattern, text, masked) => {
    expect(own(pattern, text)).toBe(masked);
  });

  it("costs time linear to its length", () => {
    const run = (count: number) => {
      const text = "4\u200b１–".repeat(count);
      new PatternTexts(guards, new GuardRun("request")).replace(text, MODEL_PLACE);
    };
    expectLinear(run, 4_000);
  });
});

const halves = ["My card is 4111 1111 11", "11 1111, mail ann@exam", "ple.com."];
const masked = [
  "My card is <CREDIT_CARD>",
  "<CREDIT_CARD>, mail <EMAIL_ADDRESS>",
  "<EMAIL_ADDRESS>.",
];
const words = (texts: readonly string[], type = "text") => texts.map((text) => ({ type, text }));
const image = { type: "image_url", image_url: { url: "https://example.com/a.png" } };

describe("a secret that is split over parts", () => {
  it.each<[string, TextFormat, (texts: readonly string[]) => JsonObject]>([
    [
      "of one message",
      completionsTexts,
      (texts) => ({
        messages: [
          { role: "user", content: [...words(texts.slice(0, 1)), image, ...words(texts.slice(1))] },
        ],
      }),
    ],
    [
      "over messages of one role",
      completionsTexts,
      (texts) => ({ messages: texts.map((content) => ({ role: "user", content })) }),
    ],
    ["of the system prompt", messagesTexts, (texts) => ({ system: words(texts), messages: [] })],
    [
      "of a tool's result",
      messagesTexts,
      (texts) => ({
        messages: [
          {
            role: "user",
            content: [{ type: "tool_result", tool_use_id: "t", content: words(texts) }],
          },
        ],
      }),
    ],
    [
      "over items of one role",
      responsesTexts,
      (texts) => ({
        input: texts.map((text) => ({ role: "user", content: words([text], "input_text") })),
      }),
    ],
  ])("%s is masked in each", (_, format, body) => {
    const guarded = guardedBody(body(halves), format);
    expect(guarded).toEqual(body(masked));
  });

  it("of a whole response is masked in each", () => {
    const body = (texts: readonly string[]) => ({ content: words(texts) });
    const run = new GuardRun("response");
    const step = patternGuards(guards);
    expect(step.guardObject(body(halves), membersMap(messagesTexts.response), run)).toEqual(
      body(masked),
    );
    expect([...run.outcomes.values()]).toMatchObject([{ action: "mask", matches: 2 }]);
  });

  it("is masked to its end, however long it is, and with characters between that nobody sees", () => {
    const long = "x".repeat(5_000);
    const body = (texts: readonly string[]) => ({
      messages: [{ role: "user", content: words(texts) }],
    });
    expect(guardedBody(body([`a key=${long}`, `${long} b`]), completionsTexts)).toEqual(
      body(["a <masked>", "<masked> b"]),
    );
    const key = ["ann@example.com: ghp_abcdefghijklmnopqrst", "uvwxyz0123 ann@example.com"];
    expect(guardedBody(body(key), completionsTexts)).toEqual(
      body(["<EMAIL_ADDRESS>: <masked>", "<masked> <EMAIL_ADDRESS>"]),
    );
    const unseen = "\u200b".repeat(10_000);
    expect(
      guardedBody(body([`ann@${unseen}`, `${unseen}example.com b`]), completionsTexts),
    ).toEqual(body(["<EMAIL_ADDRESS>", "<EMAIL_ADDRESS> b"]));
  });

  it("from another role is not", () => {
    const body = {
      messages: halves.map((content, at) => ({
        role: at % 2 === 0 ? "user" : "assistant",
        content,
      })),
    };
    expect(guardedBody(body, completionsTexts)).toBe(body);
  });

  it("costs time linear to the number of parts", () => {
    const run = (count: number) => {
      const texts = Array.from({ length: count }, (_, at) =>
        at % 2 === 0 ? "ann@exam" : "ple.com ",
      );
      const body = { messages: [{ role: "user", content: words(texts) }] };
      guardedBody(body, completionsTexts);
    };
    expectLinear(run, 2_000);
  });
});

const chunk = (choice: unknown) => `data: ${JSON.stringify({ id: "c", choices: choice })}\n\n`;
const block = (event: object) => `data: ${JSON.stringify({ index: 0, ...event })}\n\n`;
const call = { index: 0, id: "c", function: { name: "f", arguments: { to: "ann@example.com" } } };
const said = "ann@example.com";

describe("a secret in an event that is not as its API writes it", () => {
  it.each<[string, TextFormat, readonly string[]]>([
    ["a message in a chunk", completionsTexts, [chunk([{ index: 0, message: { content: said } }])]],
    ["a text in a chunk", completionsTexts, [chunk([{ index: 0, text: said }])]],
    ["a delta that is a text", completionsTexts, [chunk([{ index: 0, delta: said }])]],
    ["choices that are no list", completionsTexts, [chunk({ delta: { content: said } })]],
    ["a choice that is a text", completionsTexts, [chunk([said])]],
    [
      "arguments that are an object",
      completionsTexts,
      [chunk([{ index: 0, delta: { tool_calls: [call] } }])],
    ],
    [
      "a mark of byte order",
      completionsTexts,
      [`\ufeff${chunk([{ index: 0, delta: { content: said } }])}`],
    ],
    [
      "a member next to a string",
      messagesTexts,
      [
        block({
          type: "content_block_delta",
          delta: { type: "text_delta", text: "a", note: said },
        }),
      ],
    ],
    [
      "a member next to a block",
      messagesTexts,
      [
        block({
          type: "content_block_start",
          note: said,
          content_block: { type: "text", text: "" },
        }),
      ],
    ],
    [
      "a block that begins with a text",
      messagesTexts,
      [
        block({ type: "content_block_start", content_block: { type: "text", text: "ann@exam" } }),
        block({ type: "content_block_delta", delta: { type: "text_delta", text: "ple.com" } }),
      ],
    ],
  ])("is masked: %s", (_, format, events) => {
    const stream = format.openStream(new PatternTexts(guards, new GuardRun("response")));
    const given = [...events.flatMap((each) => stream.see(Buffer.from(each))), ...stream.end()];
    const output = given.map(String).join("");
    expect(output).not.toContain("ann@exam");
    expect(output === "" || output.includes("<EMAIL_ADDRESS>")).toBe(true);
  });
});

function guardedBody(body: JsonObject, format: TextFormat): unknown {
  return patternGuards(guards).guardObject(
    body,
    membersMap(format.request),
    new GuardRun("request"),
  );
}
