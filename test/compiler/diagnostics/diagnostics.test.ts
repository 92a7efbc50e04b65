import { globSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { expectations, fixtures, reported } from "./fixture.ts";

describe("every mistake is reported at its place, once, all in one run", () => {
  const files = globSync("*.yaml", { cwd: fixtures }).sort();

  it.each(files)("%s", (file) => {
    const expected = expectations(file);
    expect(expected).not.toEqual([]);
    expect(reported(file, expected)).toEqual(expected);
  });
});
