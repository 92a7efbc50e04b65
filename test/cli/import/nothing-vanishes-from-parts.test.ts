import { expect, it } from "vitest";
import { isSetting, sources, sourceText, vanished } from "./vanished.ts";

/** A file with only some of its settings, chosen by a seed. */
function someOf(text: string, seed: number): string {
  let state = seed;
  const random = () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
  // A snippet that no site imports is not part of the configuration.
  const isLeftOut = (line: string) =>
    isSetting(line) && !/^\s*- |snip/i.test(line) && random() < 0.3;
  return text
    .split("\n")
    .map((line) => (isLeftOut(line) ? "" : line))
    .join("\n");
}

it.each(sources)("%s loses no setting if some are left out", (name) => {
  const text = sourceText(name);
  expect([1, 2, 3].flatMap((seed) => vanished(name, someOf(text, seed)))).toEqual([]);
});
