import { spawn } from "node:child_process";
import path from "node:path";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { shapeProblem } from "../../runtime/mcp/aggregate/item-shape.ts";
import { ITEM_LIST_NAMES } from "../../runtime/mcp/protocol/item-lists.ts";
import { pythonFor } from "../harness/python.ts";
import { mutatedItems } from "./mutated-items.ts";

const ROUNDS = 2500;

/** Returns the items of 10,000 mutated ones that merged lists keep for an era, as results of lists. */
function keptLists(era: "sessions" | "stateless"): readonly string[] {
  const hints =
    era === "stateless" ? { resultType: "complete", ttlMs: 0, cacheScope: "private" } : {};
  return ITEM_LIST_NAMES.flatMap((list) =>
    [...mutatedItems(list, ROUNDS)].flatMap((item) => {
      const problem = shapeProblem(list, JSON.stringify(item), era);
      return problem === undefined
        ? [JSON.stringify({ result: { [list]: [item], ...hints } })]
        : [];
    }),
  );
}

it.each([
  ["1.x", "tests", "sessions"],
  ["2.x", "newest", "sessions"],
  ["2.x", "newest", "stateless"],
] as const)(
  "the Python SDK %s (%s) reads every mutated item that merged lists keep for %s",
  async (_, packages, era) => {
    const python = await pythonFor(packages);
    const script = path.join(import.meta.dirname, "python/read_lists.py");
    const lists = keptLists(era);
    expect(lists.length).toBeGreaterThan(1500);
    const reader = spawn(python, [script], { stdio: ["pipe", "pipe", "inherit"] });
    reader.stdin.end(`${lists.join("\n")}\n`);
    const lines = (await text(reader.stdout)).trim().split("\n");
    expect(lines).toEqual([JSON.stringify({ read: lists.length }).replace(":", ": ")]);
  },
);
