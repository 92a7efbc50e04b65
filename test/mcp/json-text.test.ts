import fc from "fast-check";
import { expect, it } from "vitest";
import {
  applyEdits,
  elementsOf,
  isArrayAt,
  isObjectAt,
  objectMembers,
  onOneLine,
  skipSpace,
  type TextRange,
} from "../../runtime/json/json-text.ts";
import { isTooDeep } from "../../runtime/json/nesting.ts";
import { scanJson } from "../../runtime/json/scan-json.ts";
import { jsonSelector } from "../../runtime/json/select-json.ts";
import { readMessage } from "../../runtime/mcp/protocol/message.ts";

/** Writes a value as JSON text with white space and escapes where JSON allows them. */
function spelled(value: unknown, space: string): string {
  const between = (items: string[]) => items.join(`${space},${space}`);
  if (Array.isArray(value))
    return `[${space}${between(value.map((v) => spelled(v, space)))}${space}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).map(
      ([key, v]) => `${escaped(key)}${space}:${space}${spelled(v, space)}`,
    );
    return `{${space}${between(members)}${space}}`;
  }
  return typeof value === "string" ? escaped(value) : JSON.stringify(value);
}

/** Writes every other character as an escape. */
function escaped(text: string): string {
  const units = text.split("").map((unit, i) => {
    const code = unit.charCodeAt(0).toString(16).padStart(4, "0");
    return i % 2 === 0 ? `\\u${code}` : JSON.stringify(unit).slice(1, -1);
  });
  return `"${units.join("")}"`;
}

/** Returns the value at a range, assembled from the ranges inside it. */
function valueAt(text: string, { start, end }: TextRange): unknown {
  if (isArrayAt(text, start)) return elementsOf(text, start).map((span) => valueAt(text, span));
  if (!isObjectAt(text, start)) return JSON.parse(text.slice(start, end));
  return Object.fromEntries(objectMembers(text, start).map((m) => [m.key, valueAt(text, m)]));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const json = fc.jsonValue({ maxDepth: 4 });
const space = fc.stringMatching(/^[ \t\r\n]{0,2}$/);

const wanted = [{ name: "params", members: [{ name: "_meta", members: [] }] }];

it("a scan accepts what JSON.parse accepts and finds the requested members", () => {
  const tokens =
    '{ } [ ] , : " \\ \\u00e9 \\x 0 01 -1 1. .5 1e+5 1e true nul null "a" "params" \n \t \u00a0 \ufeff \0';
  const token = fc.constantFrom(" ", "x".repeat(300), ...tokens.split(" "));
  const params = fc.record({ params: fc.dictionary(fc.constantFrom("_meta", "a"), json) });
  const jsonText = fc.oneof(json, params).map((value) => spelled(value, ""));
  const cut = fc.tuple(jsonText, fc.nat(), token, fc.nat(2));
  const broken = cut.map(([text, at, between, gone]) => {
    const from = at % (text.length + 1);
    return text.slice(0, from) + between + text.slice(from + gone);
  });
  const texts = fc.oneof(
    jsonText,
    broken,
    fc.array(token).map((all) => all.join("")),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const members = scanJson(text, wanted);
      expect(members !== undefined, text).toBe(isJson(text));
      const start = skipSpace(text, 0);
      if (members === undefined || !isObjectAt(text, start)) return;
      const seen = (at: number) => objectMembers(text, at);
      expect(members).toMatchObject(seen(start));
      for (const { key, start, members: own } of members) {
        if (key === "params" && isObjectAt(text, start)) expect(own).toMatchObject(seen(start));
        else expect(own).toBeUndefined();
      }
    }),
    { numRuns: 1000 },
  );
});

it("members and elements equal those of JSON.parse", () => {
  fc.assert(
    fc.property(json, space, (value, blank) => {
      const text = `${blank}${spelled(value, blank)}${blank}`;
      const start = skipSpace(text, 0);
      const end = text.length - blank.length;
      const parsed: unknown = JSON.parse(text);
      expect(JSON.stringify(valueAt(text, { start, end }))).toBe(JSON.stringify(parsed));
    }),
  );
});

it("an edit changes only its own range", () => {
  fc.assert(
    fc.property(fc.array(json, { minLength: 1 }), space, (values, blank) => {
      const text = spelled(values, blank);
      const spans = elementsOf(text, 0);
      const edits = spans.map((span, i) => ({ ...span, text: String(i) }));
      const edited = applyEdits(text, edits.toReversed());
      expect(JSON.parse(edited)).toEqual(values.map((_, i) => i));
      const same = spans.map((span) => ({ ...span, text: text.slice(span.start, span.end) }));
      expect(applyEdits(text, same)).toBe(text);
    }),
  );
});

it("JSON text on one line has the same value", () => {
  fc.assert(
    fc.property(json, space, (value, blank) => {
      const text = spelled(value, blank);
      expect(onOneLine(text)).not.toMatch(/[\r\n]/);
      expect(JSON.parse(onOneLine(text))).toEqual(JSON.parse(text));
    }),
  );
});

it("any text is a message with that text, or a problem", () => {
  const pieces = [
    '{"jsonrpc":"2.0"',
    ',"id":1',
    ',"method":"a"',
    ',"params":{',
    "}",
    "[",
    '"',
    "\\",
    "x",
  ];
  const texts = fc.array(fc.constantFrom(...pieces)).map((parts) => parts.join(""));
  fc.assert(
    fc.property(fc.oneof(texts, fc.string(), fc.json()), (text) => {
      const message = readMessage(text);
      if (message.kind !== "problem") expect(message.text).toBe(text);
      else expect(message.code).toBeLessThan(0);
    }),
  );
});

it("selected members equal those of JSON.parse", () => {
  const selector = jsonSelector({
    id: true,
    "a\n": true,
    usage: { in: true },
    list: [{ end: true }],
  });
  const select = (text: string) => selector(Buffer.from(text));
  const part = fc.record(
    { id: json, "a\n": json, usage: json, list: json, other: json },
    { requiredKeys: [] },
  );
  const near = fc.record({
    id: fc.string(),
    usage: fc.record({ in: json, out: json }),
    list: fc.array(fc.record({ end: json, text: fc.string() }), { minLength: 1 }),
  });
  fc.assert(
    fc.property(fc.oneof(part, near), space, (value, blank) => {
      const text = spelled(value, blank);
      const parsed = JSON.parse(text);
      const selected = select(`${blank}${text}${blank}`);
      expect(selected?.id).toEqual(parsed.id);
      expect(selected?.["a\n"]).toEqual(parsed["a\n"]);
      if (isObject(parsed.usage) && "in" in parsed.usage)
        expect(selected?.usage).toEqual({ in: parsed.usage.in });
      const [first] = Array.isArray(parsed.list) ? parsed.list : [];
      if (isObject(first) && "end" in first) expect(selected?.list).toEqual([{ end: first.end }]);
      expect(select(text.slice(0, -1))).toBeUndefined();
      expect(select(`${text}x`)).toBeUndefined();
    }),
  );
});

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

it("an object is read only to the allowed depth", () => {
  const nested = (depth: number) => `${'{"a":['.repeat(depth)}1${"]}".repeat(depth)}`;
  expect(isTooDeep(nested(4), 8)).toBe(false);
  expect(isTooDeep(nested(4), 7)).toBe(true);
  expect(isTooDeep(`{"a":"${"[".repeat(9)}"}`, 2)).toBe(false);
  expect(isTooDeep(`{"a":${"[".repeat(100_000)}`, 8)).toBe(true);
});
