import { expect, it } from "vitest";
import { FairQueue } from "../../compiler/controller/fair-queue.ts";

it("statuses of a namespace with thousands hold up those of others by one each", () => {
  const queue = new FairQueue<number>();
  for (let index = 0; index < 2_000; index++) queue.add("x", `route-${index}`, index);
  queue.add("a", "policy", 1);
  queue.add("b", "policy of b", 2);
  const first = Array.from({ length: 4 }, () => queue.take(() => true)?.[0]);
  expect(first).toEqual(["route-0", "policy", "policy of b", "route-1"]);
  expect(queue.size).toBe(1_998);
});

it("an item that is being written waits, and others of its namespace do not", () => {
  const queue = new FairQueue<number>();
  queue.add("x", "one", 1);
  queue.add("x", "two", 2);
  queue.add("x", "one", 3);
  expect(queue.take((id) => id !== "one")).toEqual(["two", 2]);
  expect(queue.take((id) => id !== "one")).toBeUndefined();
  expect(queue.take(() => true)).toEqual(["one", 3]);
  expect([queue.take(() => true), queue.size]).toEqual([undefined, 0]);
});
