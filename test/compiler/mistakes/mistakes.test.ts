import { describe, expect, it } from "vitest";
import { mistakeGroups } from "./mistakes.ts";

describe.each(mistakeGroups())("$title", ({ mistakes }) => {
  it.each(mistakes)("$title: reported once, at its place, with a hint", ({ code, findings }) => {
    expect(findings.map((finding) => finding.code)).toEqual([code]);
    const [found] = findings;
    expect(found?.location.text).not.toBe("");
    expect(found?.hint).toBeDefined();
  });
});
