import fc from "fast-check";
import { expect, it } from "vitest";
import { hasLongNumber } from "../../runtime/json/exact-json.ts";
import { codesOf } from "../../runtime/json/json-codes.ts";
import { KnownKeys } from "../../runtime/json/known-keys.ts";
import { readMembers } from "../../runtime/json/read-members.ts";

const known = new KnownKeys(["a", "model", "größe"]);

function read(text: string, maxDepth: number) {
  return readMembers(text, codesOf(text, Buffer.from(text)), { maxDepth, known });
}

it("an object's members are read as JSON.parse reads them", () => {
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.oneof(
          fc.constantFrom("a", "model", "größe", "a\u0122"),
          fc.string({ unit: "grapheme" }),
        ),
        fc.jsonValue({ stringUnit: "grapheme" }),
      ),
      fc.constantFrom(0, 2),
      (value, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        const members = read(text, 256);
        if (typeof members === "string") throw new Error(members);
        const values = members.map(({ key, start, end }) => [
          key,
          JSON.parse(text.slice(start, end)),
        ]);
        expect(Object.fromEntries(values)).toEqual(JSON.parse(text));
      },
    ),
  );
});

it.each([
  ['{"a":1', "no-json"],
  ['{"a":1,}', "no-json"],
  ['{"a" 1}', "no-json"],
  ["{a:1}", "no-json"],
  ['{"a":}', "no-json"],
  ['{"a":no}', "no-json"],
  ['{"a":"b}', "no-json"],
  ['{"\\x":1}', "no-json"],
  ['{"a":1} 2', "no-json"],
  ["", "no-json"],
  ["[1]", "no-object"],
  ['{"a":[[1]]}', "too-deep"],
])("%s is %s", (text, problem) => {
  expect(read(text, 2)).toBe(problem);
});

it("a number of sixteen digits is found in any place", () => {
  fc.assert(
    fc.property(
      fc.nat(40),
      fc.integer({ min: 10, max: 24 }),
      fc.nat(40),
      (before, digits, after) => {
        const text = "x".repeat(before) + "7".repeat(digits) + "y".repeat(after);
        expect(hasLongNumber(text)).toBe(digits >= 16);
      },
    ),
  );
});
