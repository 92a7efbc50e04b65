import fc from "fast-check";
import { expect, it } from "vitest";
import {
  HeaderNames,
  withoutLines,
  withoutOtherLines,
} from "../../runtime/http/headers/header-lines.ts";
import { headerValue, withoutHeaders } from "../../runtime/http/headers/header-list.ts";
import { fieldLines } from "../../runtime/http/http1/fields.ts";
import { readReceivedFields } from "../../runtime/http/http1/received-fields.ts";

const names = [
  "Accept",
  "accept",
  "Accept-Encoding",
  "X-A",
  "x-ab",
  "Cookie",
  "TraceParent",
].concat("Content-Encoding");
const value = fc.constantFrom("", "a", "a: b", "accept: no", "x-a:", "00-1-2-01", "two words");

it("a field is found in the lines as it is found in the list of them", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom(...names), fc.constantFrom("", " ", "\t "), value)),
      fc.constantFrom(...names, "missing"),
      (lines, asked) => {
        const text = lines.map(([name, blank, said]) => `${name}:${blank}${said}\r\n`).join("");
        const fields = readReceivedFields({ text, bytes: Buffer.from(text), start: 0 }, 0);
        if (typeof fields === "string") throw new Error(fields);
        const name = asked.toLowerCase();
        expect(fields.value(name)).toBe(headerValue(fields.list, name));
      },
    ),
  );
});

it("a client's fields are forwarded as the same lines that a list would have", () => {
  const sent = fc.constantFrom(...names, "Authorization", "AUTHORIZATION", "x_a", "^x", "_x");
  const left = fc.constantFrom("accept", "x-a", "authorization", "_x", "^x", "longer-than-all");
  fc.assert(
    fc.property(fc.array(fc.tuple(sent, value)), fc.uniqueArray(left), (fields, unwanted) => {
      const list = fields.flat();
      const wanted = fieldLines(withoutHeaders(list, new Set(unwanted)));
      expect(withoutLines(fieldLines(list) ?? "", new HeaderNames(unwanted))).toBe(wanted);
    }),
  );
});

it("the only line of a key is kept as it came, and a duplicate key has no line", () => {
  const names = new HeaderNames(["authorization", "x-api-key", "accept"], ["openai-", "x-amz-"]);
  const others = "X-Api-Key: a\r\nOpenAI-Beta: b\r\nTraceParent: c\r\nX-AMZ-Date: d\r\n";
  const key = "Authorization: Bearer key\r\n";
  const kept = (lines: string) => withoutOtherLines(lines, names, "authorization");
  expect(kept(others + key)).toBe(`TraceParent: c\r\n${key}`);
  expect(kept(key + others)).toBe(`${key}TraceParent: c\r\n`);
  expect(kept(others)).toBeUndefined();
  expect(kept(key + others + key)).toBeUndefined();
});
