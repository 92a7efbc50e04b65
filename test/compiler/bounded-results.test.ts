import { expect, it } from "vitest";
import { BoundedResults } from "../../compiler/cel/bounded-results.ts";
import { checkPattern } from "../../compiler/cel/regex/check-pattern.ts";

it("results of ever new texts are forgotten, and those of a text that is asked for again are not", () => {
  const results = new BoundedResults<string>();
  const made = { constant: 0, changing: 0 };
  for (let index = 0; index < 50_000; index++) {
    results.of("constant", () => {
      made.constant += 1;
      return "";
    });
    results.of(`${index} ${"x".repeat(200)}`, () => {
      made.changing += 1;
      return "";
    });
  }
  expect(made).toEqual({ constant: 1, changing: 50_000 });
  expect(results.size).toBeGreaterThan(1_000);
  expect(results.size).toBeLessThan(10_000);
});

it("a text above the bound is asked for each time, and removes no more than others do", () => {
  const results = new BoundedResults<number>();
  const large = "x".repeat(5_000_000);
  expect(results.of(large, () => 1)).toBe(1);
  expect(results.of("small", () => 2)).toBe(2);
  expect(results.size).toBeLessThanOrEqual(2);
});

it("a pattern is read once, with and without mistakes", () => {
  for (const pattern of ["(a{1,100}){1,2}b", "(a", "a{1,1000}{1,1000}"])
    expect(checkPattern(pattern)).toBe(checkPattern(pattern));
});
