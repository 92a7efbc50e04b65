import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { LOOKALIKES, ONE_CASE_LOOKALIKES } from "../../runtime/patterns/lookalikes.ts";
import { blanksOfNames, lookalikesOfNames } from "./lookalike-names.ts";
import { LOOKALIKES_FILE } from "./lookalikes-text.ts";

const codes = (characters: readonly string[]) =>
  characters.map((each) => (each.codePointAt(0) ?? 0).toString(16)).join(" ");

it("the table of lookalikes is what the names of characters say", () => {
  const { sole, eitherCase } = lookalikesOfNames();
  const table = (map: ReadonlyMap<string, readonly string[]>) =>
    Object.fromEntries([...map].map(([reading, characters]) => [reading, codes(characters)]));
  expect(LOOKALIKES).toEqual(table(sole));
  expect(ONE_CASE_LOOKALIKES).toEqual(table(eitherCase));
  const text = readFileSync(LOOKALIKES_FILE, "utf8");
  expect(text.replaceAll(/"\s*\+\s*"/g, "")).toContain(codes(blanksOfNames()));
});
