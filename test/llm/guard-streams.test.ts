import fc from "fast-check";
import { RE2JS } from "re2js";
import { describe, expect, it } from "vitest";
import { matchBounds } from "../../compiler/cel/regex/match-bounds.ts";
import { MODEL_PLACE } from "../../runtime/llm/chat/texts.ts";
import { completionsTexts } from "../../runtime/llm/formats/completions/texts.ts";
import { messagesTexts } from "../../runtime/llm/formats/messages/texts.ts";
import { responsesTexts } from "../../runtime/llm/formats/responses/texts.ts";
import { creditCard, email, phoneNumber, ssn } from "../../runtime/llm/guards/named-patterns.ts";
import { guardPattern, maskPatterns } from "../../runtime/llm/guards/pattern-guard.ts";
import { PartedReplacement } from "../../runtime/patterns/parted-replacement.ts";
import { Replacement } from "../../runtime/patterns/replacement.ts";
import { Search } from "../../runtime/patterns/search.ts";
import { cpuMillis } from "../compiler/cel/cpu-time.ts";
import { textsFor } from "./pattern-texts.ts";

const RUNS = process.env.GWC_LONG_TESTS === undefined ? 3_000 : 30_000;

/** Runs of one format; long ones take as many. */
const FORMAT_RUNS = process.env.GWC_LONG_TESTS === undefined ? 500 : RUNS;

const bounded = [
  ...["ab|a", "abcd|bc", "a{2,4}b?", "\\bab\\b", "(?m)^a.", "\\Ba", "a.b", "(a|b){3}", "é.", "b|"],
  ...["😀a", "x[^a]{1,3}?c", "(?i)k{1,3}", "^a", "b$", "a{1,3}?b", "[a-c]{1,2}x|c"],
  ...["a{0,2}a{2}", "(?:a?){2}a{2}", "b?a{2}|ab"],
  ...[
    "a.{0,3}b|a",
    "a.{0,3}[é\\x{1f600}]|a",
    "a.{0,2}b\\b|a",
    "a(?:.{0,3}(?i:k))?",
    "(?m)a(?:.{0,3}x$)?",
  ],
];
const unbounded = [
  ...["(?:a+b?)+c", "[a-c]+x", "a*", "x.*b", "a*?b", "\\w+@\\w+"],
  ...[
    "a(.*b)?",
    "a[^b]*b|a",
    "a+\\B",
    "a(?:.*\\b)?",
    "x[^b]*b|é",
    "[^x]*é|a",
    "[ab]+\\b|a",
    "a(?:.*x$)?",
  ],
];

const characters = [
  ...["a", "b", "c", "d", "x", " ", "@", "\n", "é", "😀", "k", "K", "\u212a", "_"],
  // Characters that read as nothing, as "a", as "mb", as "b", and halves of these.
  ...["\u200b", "\u00ad", "\uff41", "\u33d4", "\u{1d41b}", "\ud835", "\udc1b"],
];
const pieces = fc.array(
  fc.array(fc.constantFrom(...characters), { maxLength: 5 }).map((each) => each.join("")),
  { maxLength: 6 },
);

/** All matches in what a text reads as replaced, by RE2's own search; empty ones are passed over. */
function replacedWhole(pattern: string, written: string): string {
  return replacedAsParts(pattern, [written])[0] ?? "";
}

/** The same for a text in parts: what of a match lies in each is replaced there. */
function replacedAsParts(pattern: string, parts: readonly string[]): readonly string[] {
  const ranges = rangesIn(pattern, parts.join(""));
  let begin = 0;
  return parts.map((part) => {
    const from = begin;
    begin += part.length;
    let output = "";
    let at = 0;
    for (const range of ranges) {
      const [start, end] = [range.from - from, Math.min(range.to - from, part.length)];
      if (start >= part.length || end <= 0) continue;
      output += `${part.slice(at, Math.max(start, 0))}#`;
      at = end;
    }
    return output + part.slice(at);
  });
}

function rangesIn(pattern: string, written: string): readonly { from: number; to: number }[] {
  const units = Array.from({ length: written.length }, (_, at) => at);
  const { text, starts } = searchFor(pattern, 8).reader.readingOf(written) ?? {
    text: written,
    starts: units,
  };
  const matcher = RE2JS.compile(pattern).matcher(text);
  const ranges: { from: number; to: number }[] = [];
  for (let at = 0; at <= text.length && matcher.find(at); ) {
    const [start, end] = [matcher.start(), matcher.end()];
    if (start === end) {
      at = start + ((text.codePointAt(start) ?? 0) > 0xffff ? 2 : 1);
      continue;
    }
    const last = starts[end - 1] ?? 0;
    const to = last + String.fromCodePoint(written.codePointAt(last) ?? 0).length;
    ranges.push({ from: starts[start] ?? 0, to });
    at = end;
  }
  return ranges;
}

const searches = new Map<string, Search>();

/** A gateway has one search of a pattern, too: what it learns of one text it uses for the next one. */
function searchFor(pattern: string, longest: number): Search {
  const key = `${longest} ${pattern}`;
  const search = searches.get(key) ?? new Search({ pattern: RE2JS.compile(pattern), longest });
  searches.set(key, search);
  return search;
}

/** Returns the output of each part of a text, each part in pieces. */
function replacedByParts(
  pattern: string,
  longest: number,
  parts: readonly (readonly string[])[],
): readonly string[] {
  const replacement = new PartedReplacement(searchFor(pattern, longest), "#");
  const output = [""];
  const give = ([first = "", ...others]: readonly string[]) => {
    output[output.length - 1] += first;
    output.push(...others);
  };
  for (const [index, part] of parts.entries()) {
    if (index > 0) give(replacement.push(["", ""]));
    for (const piece of part) give(replacement.push([piece]));
  }
  give(replacement.end());
  return output;
}

function replacedAtOnce(pattern: string, longest: number, text: string): string {
  const search = searchFor(pattern, longest);
  return new Replacement(search, "#").replace(text, search.reader.readingOf(text));
}

function replacedInPieces(pattern: string, longest: number, parts: readonly string[]): string {
  const replacement = new Replacement(searchFor(pattern, longest), "#");
  return parts.map((part) => replacement.push(part)).join("") + replacement.end();
}

describe("masking", () => {
  it("a stream is masked as its whole text is, wherever it is cut", () => {
    const given = fc.property(fc.constantFrom(...bounded), pieces, (pattern, parts) => {
      const { longest = 0 } = matchBounds(pattern);
      const whole = replacedWhole(pattern, parts.join(""));
      expect(replacedInPieces(pattern, longest, parts)).toBe(whole);
      expect(replacedAtOnce(pattern, longest, parts.join(""))).toBe(whole);
    });
    fc.assert(given, { numRuns: RUNS });
  }, 300_000);

  it("the same holds for patterns without a bound while matches are shorter than the window", () => {
    const given = fc.property(fc.constantFrom(...unbounded), pieces, (pattern, parts) => {
      expect(matchBounds(pattern).longest).toBeUndefined();
      const whole = replacedWhole(pattern, parts.join(""));
      expect(replacedInPieces(pattern, 64, parts)).toBe(whole);
      expect(replacedAtOnce(pattern, 64, parts.join(""))).toBe(whole);
    });
    fc.assert(given, { numRuns: 2_000 });
  });

  it("a text in parts is masked as its whole text is, in each part what lies in it", () => {
    const given = fc.property(
      fc.constantFrom(...bounded),
      fc.array(pieces, { minLength: 1, maxLength: 4 }),
      (pattern, parts) => {
        const { longest = 0 } = matchBounds(pattern);
        const whole = replacedAsParts(
          pattern,
          parts.map((part) => part.join("")),
        );
        expect(replacedByParts(pattern, longest, parts)).toEqual(whole);
      },
    );
    fc.assert(given, { numRuns: 3_000 });
  }, 300_000);

  it("what is released is masked as if the text ended there, with its continuation", () => {
    const search = new Search({ pattern: RE2JS.compile("(?:ab)+(?:cd)?"), longest: 16 });
    const replacement = new PartedReplacement(search, "#");
    expect(replacement.push(["mail ab"]).concat(replacement.release())).toEqual(["mail ", "#"]);
    expect(replacement.push(["cd, c"])).toEqual(["#, c"]);
    expect(replacement.matches).toBe(1);
  });

  it("a beginning that comes to nothing stays before a match that began in it", () => {
    expect(replacedInPieces("[ab]+\\b|a", 64, ["baa", "x"])).toBe("b##x");
    // Half of a character waits, and no match is given up for it.
    expect(replacedInPieces("x.{1,3}b", 8, ["x\u33d4xa\ud835\u00ad", "\u33d4"])).toBe("##");
  });

  it("where long matches begin costs about what reading them does", () => {
    const text = `${"a".repeat(50_000)}!`;
    const cost = (pattern: string): number => {
      const { longest = 1_024 } = matchBounds(pattern);
      const guards = [maskPatterns([guardPattern(pattern, longest)])];
      return cpuMillis(() => textsFor(guards).replace(text, MODEL_PLACE), 3);
    };
    // a thread for each place of the pattern would take a hundred times as long
    const reading = cost("(a+)+$");
    expect(cost("a{0,50}a{50}")).toBeLessThan(20 * reading + 20);
    // the continuations of each match are searched once, and not once for each of 500 characters
    expect(cost("a.{0,500}b|a")).toBeLessThan(3 * cost("a.{0,5}b|a") + 20);
    expect(cost("(.*a){11}")).toBeLessThan(20 * reading + 20);
  });

  it.each(["[a-z]+$", "<key>.*</key>$", "[a-z]+", "1[^;]*;2|<[^;]*$"])(
    "%s is masked in a whole text from where it begins, however long it is",
    (pattern) => {
      const text = `1 <key>${"a".repeat(200)}</key>`;
      expect(replacedAtOnce(pattern, 16, text)).toBe(replacedWhole(pattern, text));
    },
  );

  it("an endless match is masked to its end, and only the window of it is buffered", () => {
    const search = new Search({ pattern: RE2JS.compile("key=\\S+"), longest: 16 });
    const replacement = new Replacement(search, "#");
    let output = replacement.push("a key=");
    for (let i = 0; i < 1_000; i++) output += replacement.push("abcdefgh");
    expect(output + replacement.push(" b") + replacement.end()).toBe("a # b");
    expect(replacement.matches).toBe(1);
  });

  it("what cannot become a match is not held back", () => {
    const search = new Search({ pattern: RE2JS.compile("[0-9]{3}-[0-9]{4}"), longest: 8 });
    const replacement = new Replacement(search, "#");
    expect(replacement.push("Hello there, 12 people")).toBe("Hello there, 12 people");
    expect(replacement.push(" call 555")).toBe(" call ");
    expect(replacement.push("-01")).toBe("");
    expect(replacement.push(" ")).toBe("555-01 ");
  });

  it.each([
    [ssn(), "123-45-6789 and 666-12-3456, 1234567890", "<SSN> and 666-12-3456, 1234567890"],
    [
      creditCard(),
      "4111 1111 1111 1111, 4111 1111 1111 1112",
      "<CREDIT_CARD>, 4111 1111 1111 1112",
    ],
    [creditCard(), "378282246310005x4000056655665556", "<CREDIT_CARD>x<CREDIT_CARD>"],
    [email(), "Ann <ann.b+c@mail.example.co.uk>.", "Ann <<EMAIL_ADDRESS>>."],
    [
      phoneNumber(),
      "+49 30 1234567, (212) 555-0142, 2026-11-22",
      "<PHONE_NUMBER>, <PHONE_NUMBER>, 2026-11-22",
    ],
  ])("named patterns know their numbers (%#)", (pattern, text, masked) => {
    expect(textsFor([maskPatterns([pattern])]).replace(text, MODEL_PLACE)).toBe(masked);
  });
});

/** The text of an event of each format, and how it reads in the end. */
const formats = {
  completions: {
    format: completionsTexts,
    event: (content: string) =>
      `data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`,
    end: 'data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
    text: ({ choices }: { choices?: { delta: { content?: string } }[] }) =>
      choices?.[0]?.delta.content,
  },
  messages: {
    format: messagesTexts,
    event: (text: string) =>
      `event: content_block_delta\ndata: ${JSON.stringify({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })}\n\n`,
    end: 'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n',
    text: ({ delta }: { delta?: { text?: string } }) => delta?.text,
  },
  "responses as OpenAI writes them": {
    format: responsesTexts,
    event: (delta: string, sequence_number: number) =>
      `event: response.output_text.delta\ndata: ${JSON.stringify({ type: "response.output_text.delta", sequence_number: sequence_number + 7, item_id: "i", output_index: 0, content_index: 0, delta, logprobs: [], obfuscation: "x".repeat(sequence_number % 3) })}\n\n`,
    end: 'event: response.output_text.done\ndata: {"type":"response.output_text.done","sequence_number":99,"item_id":"i","output_index":0,"content_index":0,"text":""}\n\n',
    text: ({ delta }: { delta?: string }) => delta,
  },
  responses: {
    format: responsesTexts,
    event: (delta: string, sequence_number: number) =>
      `event: response.output_text.delta\ndata: ${JSON.stringify({ type: "response.output_text.delta", item_id: "i", delta, sequence_number })}\n\n`,
    end: 'event: response.output_text.done\ndata: {"type":"response.output_text.done","item_id":"i","text":"","sequence_number":99}\n\n',
    text: ({ delta }: { delta?: string }) => delta,
  },
} as const;

describe.each(Object.keys(formats) as (keyof typeof formats)[])("a stream of %s", (name) => {
  const { format, event, end } = formats[name];

  it("reads as its whole text masked", () => {
    const guards = [maskPatterns([guardPattern("abcd|bc", 4), guardPattern("x.{1,3}b", 8)])];
    const given = fc.property(pieces, (parts) => {
      const texts = format.openStream(textsFor(guards));
      const output = [...parts.map(event), end]
        .flatMap((each) => texts.see(Buffer.from(each)))
        .concat(texts.end())
        .map((each) => JSON.parse(/^data: (.*)$/m.exec(each.toString())?.[1] ?? "{}"));
      const read = output.map((each) => formats[name].text(each) ?? "").join("");
      expect(read).toBe(textsFor(guards).replace(parts.join(""), MODEL_PLACE));
      const numbers = output.flatMap(({ sequence_number: number }) => number ?? []);
      expect(numbers).toEqual(numbers.map((_, index) => index + (numbers[0] ?? 0)));
    });
    fc.assert(given, { numRuns: FORMAT_RUNS });
  }, 600_000);

  it("passes byte for byte while nothing is masked or held back", () => {
    const texts = format.openStream(textsFor([maskPatterns([guardPattern("secret", 6)])]));
    const events = [event("Hello ", 0), event("there", 1), event(".", 2), event(" Bye.", 3)];
    expect(events.flatMap((each) => texts.see(Buffer.from(each))).map(String)).toEqual(events);
  });
});

/** The events of a text that is a part of what the model says, as two formats write them, and which part an event is of. */
const partFormats = {
  messages: {
    format: messagesTexts,
    events: (said: readonly string[], index: number) => [
      { type: "content_block_start", index, content_block: { type: "text", text: "" } },
      ...said.map((text) => ({
        type: "content_block_delta",
        index,
        delta: { type: "text_delta", text },
      })),
      { type: "content_block_stop", index },
    ],
    read: ({ index, delta }: PartEvent) => [index ?? 0, delta?.text ?? ""] as const,
  },
  responses: {
    format: responsesTexts,
    events: (said: readonly string[], content_index: number) => [
      ...said.map((delta) => ({ type: "response.output_text.delta", content_index, delta })),
      { type: "response.output_text.done", content_index, text: said.join("") },
    ],
    read: ({ content_index: index, delta }: PartEvent) => [index ?? 0, delta ?? ""] as const,
  },
};

/** The members of an event that the tests of parts read. */
interface PartEvent {
  readonly type: string;
  readonly index?: number;
  readonly content_index?: number;
  readonly text?: string;
  // biome-ignore lint/suspicious/noExplicitAny: an object or a text, by the format.
  readonly delta?: any;
}

it.each(Object.keys(partFormats) as (keyof typeof partFormats)[])(
  "what a stream of %s says in parts reads in each as its whole text masked, in order",
  (name) => {
    const { format, events, read } = partFormats[name];
    const parts = fc.array(pieces, { minLength: 1, maxLength: 5 });
    const given = fc.property(fc.constantFrom(...bounded), parts, (pattern, said) => {
      const { longest = 0 } = matchBounds(pattern);
      const guard = maskPatterns([{ ...guardPattern(pattern, longest), mask: "#" }]);
      const texts = format.openStream(textsFor([guard]));
      const output = said
        .flatMap((part, index): object[] => events(part, index))
        .flatMap((each) => texts.see(Buffer.from(`data: ${JSON.stringify(each)}\n\n`)))
        .concat(texts.end())
        .map((each): PartEvent => JSON.parse(/^data: (.*)$/m.exec(each.toString())?.[1] ?? "{}"));
      const written = said.map(() => "");
      const order = output.map((event) => {
        const [index, text] = read(event);
        written[index] += text;
        return index;
      });
      const whole = replacedAsParts(
        pattern,
        said.map((part) => part.join("")),
      );
      expect(written).toEqual(whole);
      expect(order).toEqual(order.toSorted((a, b) => a - b));
      // The final repetition equals the deltas.
      const again = output.flatMap(({ type, text }) => (type.endsWith(".done") ? [text] : []));
      if (again.length > 0) expect(again).toEqual(whole);
    });
    fc.assert(given, { numRuns: 1_000 });
  },
);
