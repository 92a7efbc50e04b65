import { expect, it } from "vitest";
import { ReadingTurns } from "../../compiler/controller/model/reading-turns.ts";

/** Reads all changes of a namespace when their turns come, for so many milliseconds; returns how long that took. */
function readAll(turns: ReadingTurns, namespace: string, took: number, end: number): number {
  let sum = 0;
  for (let now = 0; now < end; ) {
    const delay = turns.delayOf(namespace, now);
    if (delay === 0) {
      turns.charge(namespace, took, now);
      sum += took;
    }
    now += Math.max(delay, took);
  }
  return sum;
}

it("a namespace that changes large Secrets all the time uses a tenth of the thread", () => {
  for (const took of [1, 20, 200]) {
    const sum = readAll(new ReadingTurns(), "x", took, 600_000);
    expect(sum).toBeGreaterThan(55_000);
    expect(sum).toBeLessThan(62_000);
  }
});

it("changes of other namespaces do not wait", () => {
  const turns = new ReadingTurns();
  readAll(turns, "x", 200, 60_000);
  expect(turns.delayOf("x", 60_000)).toBeGreaterThan(0);
  expect(turns.delayOf("a", 60_000)).toBe(0);
});

it("a change waits for at most a minute, however much was read before", () => {
  const turns = new ReadingTurns();
  turns.charge("x", 3_600_000, 0);
  expect(turns.delayOf("x", 0)).toBeLessThanOrEqual(60_001);
  expect(turns.delayOf("x", 60_001)).toBe(0);
});
