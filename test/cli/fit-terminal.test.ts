import { stripVTControlCharacters, styleText } from "node:util";
import { describe, expect, it } from "vitest";
import { fitTerminal } from "../../compiler/diagnostics/report/fit-terminal.ts";

function fitted(line: string): string[] {
  return fitTerminal(line, 40).split("\n");
}

describe("lines that are wider than the terminal", () => {
  it("are broken below the text of a hint", () => {
    expect(fitted("  = hint: bind them to loopback, or block the port")).toEqual([
      "  = hint: bind them to loopback, or",
      "          block the port",
    ]);
  });

  it("are broken below the value of a label", () => {
    expect(fitted("   by      shop.yaml:29:13 and everything after it")).toEqual([
      "   by      shop.yaml:29:13 and",
      "           everything after it",
    ]);
  });

  it("keep their colors", () => {
    const line = styleText("bold", "one difference: the route", { validateStream: false });
    const broken = fitted(`${line} tools of the listener`);
    expect(broken.map((each) => stripVTControlCharacters(each))).toEqual([
      "one difference: the route tools of the",
      "  listener",
    ]);
    expect(broken[0]).toContain(line);
  });

  it("are unchanged if they are the source of a mistake, or one word", () => {
    const source = `12 | ${"a b ".repeat(20)}`;
    const word = `https://example.com/${"a".repeat(60)}`;
    expect(fitted(source)).toEqual([source]);
    expect(fitted(word)).toEqual([word]);
  });
});
