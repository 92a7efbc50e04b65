import { expect, it } from "vitest";
import { matchBounds } from "../../compiler/cel/regex/match-bounds.ts";
import type { JsonObject } from "../../runtime/cel/variables.ts";
import { hasRepeatedKey } from "../../runtime/json/json-text.ts";
import { responseMembers, textMembers } from "../../runtime/llm/chat/texts.ts";
import { completionsTexts } from "../../runtime/llm/formats/completions/texts.ts";
import { parseObject } from "../../runtime/llm/formats/parse-object.ts";
import { isClearJson } from "../../runtime/llm/guards/clear-json.ts";
import { GuardRun } from "../../runtime/llm/guards/guard-run.ts";
import { guardedObject, membersMap } from "../../runtime/llm/guards/guarded-object.ts";
import { ssn } from "../../runtime/llm/guards/named-patterns.ts";
import { guardPattern, maskPatterns } from "../../runtime/llm/guards/pattern-guard.ts";
import { patternGuards } from "../../runtime/llm/guards/pattern-step.ts";
import { seeded } from "./seeded.ts";

const BODIES = process.env.GWC_LONG_TESTS === "1" ? 200_000 : 5_000;

const PATTERNS = [
  "secret",
  "\\bkey\\b",
  "^start",
  "end$",
  "a\\nb",
  "a\\\\b",
  "\\d{3}-\\d{2}",
  "x@y",
  "\\x{41}",
];

/** Strings of bodies, as JSON without quotes: secrets, halves of them, and the escapes that could hide one. */
const STRINGS = [
  ...[
    "secret",
    "sec",
    "ret",
    "s\\u0065cret",
    "key",
    "monkey",
    "123-45",
    "123",
    "-45",
    "x@y",
    "x\\u0040y",
  ],
  ...[
    "start",
    "restart",
    "end",
    "ends",
    "a\\nb",
    "a\\\\b",
    "a\\\\nb",
    "a\\tb",
    "a\\/b",
    '\\"',
    "A",
    "ａ",
  ],
  ...[
    "é",
    "’",
    "hello",
    "",
    " ",
    "a\nb",
    "a\u0000b",
    "a\u007fb",
    "\\x",
    "\\u12",
    "\\b",
    "\\f",
    "123-45-6789",
  ],
];

const KEYS = [
  ...[
    "model",
    "messages",
    "role",
    "content",
    "stream",
    "stop",
    "user",
    "n",
    "id",
    "choices",
    "message",
  ],
  ...[
    "refusal",
    "usage",
    "total_tokens",
    "finish_reason",
    "tool_calls",
    "arguments",
    "text",
    "type",
  ],
  ...["metadata", "secret", "cont\\u0065nt", "url", "file_data", "name", "input", "json", "index"],
];

it("a body that is clear has nothing that guards find in its texts", async () => {
  const random = seeded(50);
  let clear = 0;
  for (let count = 0; count < BODIES; count++) {
    const isRequest = random(2) === 0;
    const text = body(random);
    const patterns = Array.from({ length: 1 + random(3) }, () => {
      const written = PATTERNS[random(PATTERNS.length)] ?? "secret";
      return guardPattern(written, matchBounds(written).longest ?? 64);
    });
    const steps = [patternGuards([maskPatterns(patterns)])];
    const { simple } = completionsTexts;
    const keys = isRequest ? simple?.request : simple?.response;
    if (keys === undefined) throw new Error("completions have simple bodies");
    if (!isClearJson(text, keys, steps, new GuardRun("request"))) continue;
    clear += 1;
    const object = parseObject(text);
    expect(object, text).toBeDefined();
    expect(hasRepeatedKey(text), text).toBe(false);
    const run = new GuardRun("request");
    const members = isRequest ? textMembers : responseMembers;
    const parsed: JsonObject = object ?? {};
    const map = membersMap(members(parsed, completionsTexts));
    expect(await guardedObject(steps, parsed, map, run), text).toBe(parsed);
    expect(
      [...run.outcomes.values()].every(({ matches }) => matches === 0),
      text,
    ).toBe(true);
  }
  expect(clear).toBeGreaterThan(BODIES / 50);
});

it.each([
  [
    "a body with the usual keys",
    '{"model":"m","messages":[{"role":"user","content":"hello"}]}',
    true,
  ],
  [
    "escapes of one character",
    '{"messages":[{"role":"user","content":"a \\"b\\"\\n\\tc\\\\"}]}',
    true,
  ],
  ["white space between tokens", '{\n "n": -1.5,\r\n\t"stop": [ ] }\n', true],
  ["messages of two roles", messages("user", "assistant", "user"), true],
  ["two messages of one role, whose texts are joined", messages("user", "user"), false],
  ["a message without a role", '{"messages":[{"content":"hello"}]}', false],
  ["parts of a content", '{"messages":[{"role":"user","content":[{"text":"a"}]}]}', false],
  ["a number that is a pattern's match in a string", '{"user":"123-45-6789"}', false],
  ["another key", '{"model":"m","metadata":{}}', false],
  ["a repeated key", '{"model":"m","model":"n"}', false],
  ["a key with an escape", '{"mod\\u0065l":"m"}', false],
  ["an escape by number", '{"user":"\\u0061"}', false],
  ["characters beyond ASCII", '{"user":"é"}', false],
  ["a line break in a string", '{"user":"a\nb"}', false],
  ["a form feed in a string", '{"user":"a\fb"}', false],
  ["text after the body", '{"user":"a"} x', false],
  ["an open string", '{"user":"a', false],
  ["an open object", '{"user":"a"', false],
  ["a comma too many", '{"user":"a",}', false],
  ["a comma too many in a list", '{"stop":["a",]}', false],
  ["a leading zero", '{"n":01}', false],
  ["no digits", '{"n":-}', false],
  ["a word of another language", '{"n":None}', false],
  ["a list", '["a"]', false],
  ["nothing", "", false],
  ["deep nesting", `{"stop":${"[".repeat(9)}${"]".repeat(9)}}`, false],
])("a body is clear only if it is simple JSON: %s", (_, text, isClear) => {
  const { simple } = completionsTexts;
  if (simple === undefined) throw new Error("completions have simple bodies");
  const steps = [patternGuards([maskPatterns([ssn()])])];
  expect(isClearJson(text, simple.request, steps, new GuardRun("request"))).toBe(isClear);
});

function messages(...roles: readonly string[]): string {
  return JSON.stringify({ messages: roles.map((role) => ({ role, content: "hello" })) });
}

/** A body of random members, mostly like those of clients. */
function body(random: (below: number) => number): string {
  const string = () => `"${STRINGS[random(STRINGS.length)] ?? ""}"`;
  const space = () => ["", "", "", " ", "\n"][random(5)] ?? "";
  const value = (depth: number): string => {
    const kind = random(depth > 3 ? 5 : 7);
    if (kind === 5) return object(depth + 1);
    if (kind === 6) return `[${Array.from({ length: random(3) }, () => value(depth + 1)).join()}]`;
    return kind < 3 ? string() : (["1", "null", "true", "-2.5", "1e5", "12345"][random(6)] ?? "1");
  };
  const object = (depth: number): string => {
    const keys = Array.from({ length: random(4) }, () => KEYS[random(KEYS.length)] ?? "n");
    return `{${keys.map((key) => `${space()}"${key}"${space()}:${value(depth)}`).join()}${space()}}`;
  };
  if (random(3) === 0) return object(0);
  const roles = ["user", "assistant", "system", "user"];
  const list = Array.from({ length: 1 + random(3) }, () => {
    const role = `"role":"${roles[random(roles.length)]}"`;
    const content = `"content":${random(8) === 0 ? value(1) : string()}`;
    return `{${random(2) === 0 ? `${role},${content}` : `${content},${space()}${role}`}}`;
  }).join();
  const others = random(3) === 0 ? `,"${KEYS[random(KEYS.length)]}":${value(1)}` : "";
  return random(2) === 0
    ? `{"model":${string()},"messages":[${list}]${others}}`
    : `{"id":${string()},"choices":[{"index":0,"message":${list}}]${others}}`;
}
