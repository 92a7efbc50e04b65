import { expect, it } from "vitest";
import { email, ssn } from "../../runtime/llm/guards/named-patterns.ts";
import { guardPattern } from "../../runtime/llm/guards/pattern-guard.ts";

it("what is known of a pattern is shared by all code that is loaded, one change after the other", () => {
  expect(guardPattern("sk-[a-z]+", 64)).toBe(guardPattern("sk-[a-z]+", 64));
  expect(guardPattern("sk-[a-z]+", 64)).not.toBe(guardPattern("sk-[a-z]+", 65));
  expect(guardPattern("sk-[a-z]+", 64)).not.toBe(guardPattern("pk-[a-z]+", 64));
  expect(email()).toBe(email());
  expect(email()).not.toBe(ssn());
});
