import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { TargetEra } from "../../runtime/mcp/transports/target-era.ts";

beforeEach(() => vi.useFakeTimers({ toFake: ["Date"] }));
afterEach(() => vi.useRealTimers());

const minutes = (count: number) => vi.setSystemTime(Date.now() + count * 60_000);

it("only a target without sessions is tried again after a while", () => {
  const era = new TargetEra(undefined);
  era.noteSessions(false);
  expect([era.hasSessions, era.isStateless]).toEqual([false, true]);
  minutes(6);
  expect([era.hasSessions, era.isStateless]).toEqual([undefined, true]);
  era.noteSessions(true);
  minutes(600);
  expect(era.hasSessions).toBe(true);
});

it("a target that refuses a known revision is probed again, but not at each refusal", async () => {
  const era = new TargetEra(undefined);
  const probe = vi.fn(async () => true);
  minutes(1);
  for (let refusals = 0; refusals < 5; refusals++) {
    await era.findStateless(probe);
    era.doubtStateless();
  }
  await era.findStateless(probe);
  expect(probe).toHaveBeenCalledTimes(2);
});

it("a configured era is never probed", async () => {
  const era = new TargetEra("stateless");
  era.noteSessions(true);
  era.noteStateless(false);
  era.doubtStateless();
  minutes(6);
  expect([era.hasSessions, era.isStateless]).toEqual([false, true]);
});
