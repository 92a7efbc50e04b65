import { expect, it } from "vitest";
import {
  accessLogLine,
  jsonValue,
  TimeText,
  textValue,
} from "../../runtime/telemetry/logs/log-line.ts";

it("plain values are written as they are, all others in quotes", () => {
  for (const plain of ["/a/b-c_d.e~f", "api.example.com:80", "[::1]:80", "Bearer", "50%"]) {
    expect(textValue(plain)).toBe(plain);
  }
  expect(textValue("")).toBe('""');
  expect(textValue("a b")).toBe('"a b"');
  expect(textValue("a=b")).toBe('"a=b"');
  expect(textValue('say "hi"')).toBe('"say \\"hi\\""');
});

it("no character can end a line, move a terminal's cursor or turn the text around", () => {
  const hostile = "\n\r\t\0\x1b[31m\x7f\x85\x9b\u2028\u2029\u061c\u202e\u2066\ud800";
  for (const written of [textValue(hostile), jsonValue(hostile)]) {
    expect(written).toMatch(/^[ -~]+$/);
    expect(JSON.parse(written)).toBe(hostile);
  }
});

it("times have milliseconds and end in Z", () => {
  const time = new TimeText();
  for (const moment of [0, 1, 999, 1000, 1_700_000_000_042, 1_700_000_000_999, 1_699_999_999_001]) {
    expect(time.format(moment)).toBe(new Date(moment).toISOString());
  }
});

it.each(["text", "json"] as const)("a line says the same as a line before it did: %s", (format) => {
  const log = accessLogLine(format);
  const line = (written: typeof log, model: string | undefined): string => {
    written.begin();
    written.text("gen_ai.request.model", model);
    written.text("route", "chat");
    // All but the time.
    return written.end().replace(/[\d-]+T[\d:.]+Z/, "");
  };
  const models = [
    "m",
    "m",
    "m",
    "two words",
    "two words",
    "x".repeat(5000),
    undefined,
    "m",
    "m",
    "",
  ];
  for (const model of [...models, ...models]) {
    expect(line(log, model)).toBe(line(accessLogLine(format), model));
  }
});

it("durations in JSON have up to three decimals", () => {
  const log = accessLogLine("json");
  const values = Array.from({ length: 20_000 }, (_, at) => at * 0.0737);
  for (const value of [0, 0.0004, 0.001, 0.01, 0.1, 1, 86_400_000.5, ...values]) {
    log.begin();
    log.milliseconds("duration", value);
    expect(log.end()).toContain(`,"duration_ms":${Math.round(value * 1000) / 1000}}`);
  }
});

it.each(["text", "json"] as const)("fields of a line may have any order: %s", (format) => {
  const log = accessLogLine(format);
  const orders = ["abc", "abc", "cab", "b", "ca", "bb", "abcd", "dcba", "abc"];
  const write = (written: typeof log, order: string): string => {
    written.begin();
    for (const name of order) written.text(name, `of ${name}`);
    return written.end().replace(/[\d-]+T[\d:.]+Z/, "");
  };
  for (const order of orders) expect(write(log, order)).toBe(write(accessLogLine(format), order));
});
