import { expect, it } from "vitest";
import { tryPairs, tryPairsApart } from "./tried-pairs.ts";

/** Pairs of gateways in parts of so many. */
const IS_LONG = process.env.GWC_LONG_TESTS === "1";
const [PARTS, PAIRS] = IS_LONG ? [40, 50] : [1, 7];

it.each(Array.from({ length: PARTS }, (_, part) => part))(
  "whatever random requests to two whole gateways find is in their diff, and what it says opens does so (part %i)",
  async (part) => {
    const tried = IS_LONG ? tryPairsApart : tryPairs;
    const { counts, missed, closed } = await tried({ part, pairs: PAIRS });
    if (IS_LONG) process.stderr.write(`${part} ${JSON.stringify(counts)}\n`);
    expect(missed).toEqual([]);
    expect(closed).toEqual([]);
    expect(counts.differ).toBeGreaterThan(PAIRS / 3);
  },
  1_200_000,
);
