import { describe, expect, it } from "vitest";
import { mistakeGroups } from "./mistakes.ts";

describe.each(mistakeGroups())("$title", ({ mistakes }) => {
  it.each(mistakes)("$title: told once, where it stands, with what to do", ({ findings }) => {
    expect(findings).toHaveLength(1);
    const [found] = findings;
    expect(found?.location.text).not.toBe("");
    expect(found?.hint).toBeDefined();
  });
});
