import { describe, expect, it } from "vitest";
import { mistakeGroups } from "./mistakes.ts";

describe.each(mistakeGroups())("$title", ({ mistakes }) => {
  it.each(mistakes)("$title: told once, where it stands, with what to do", ({ code, findings }) => {
    expect(findings.map((finding) => finding.code)).toEqual([code]);
    const [found] = findings;
    expect(found?.location.text).not.toBe("");
    expect(found?.hint).toBeDefined();
  });
});
