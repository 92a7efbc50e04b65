import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ExpiringValue } from "../../runtime/auth/cloud/expiring-value.ts";

const MINUTE = 60_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: 0 });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Until all that is decided has been done. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Credentials that are good for an hour; the test says when a server gives them out. */
function start(life = 60 * MINUTE) {
  const fetches: PromiseWithResolvers<string>[] = [];
  const value = new ExpiringValue("credentials", async () => {
    const fetch = Promise.withResolvers<string>();
    fetches.push(fetch);
    return { value: await fetch.promise, expires: Date.now() + life };
  });
  return { value, fetches };
}

it("are fetched anew five minutes before their end, once, and nobody waits for it", async () => {
  const { value, fetches } = start();
  const first = [value.current(), value.current()];
  fetches[0]?.resolve("one");
  expect(await Promise.all(first)).toEqual(["one", "one"]);
  vi.setSystemTime(54 * MINUTE);
  expect(await value.current()).toBe("one");
  expect(fetches).toHaveLength(1);
  vi.setSystemTime(55 * MINUTE);
  expect([await value.current(), await value.current()]).toEqual(["one", "one"]);
  expect(fetches).toHaveLength(2);
  fetches[1]?.resolve("two");
  await vi.waitFor(async () => expect(await value.current()).toBe("two"));
});

it("that are good for a short time are fetched anew at half of it", async () => {
  const { value, fetches } = start(2 * MINUTE);
  const first = value.current();
  fetches[0]?.resolve("one");
  await first;
  vi.setSystemTime(MINUTE);
  expect(await value.current()).toBe("one");
  expect(fetches).toHaveLength(2);
});

it("stay in use while they are valid and their server is down, which is not called for some seconds", async () => {
  const { value, fetches } = start();
  const first = value.current();
  fetches[0]?.resolve("one");
  await first;
  vi.setSystemTime(56 * MINUTE);
  expect(await value.current()).toBe("one");
  fetches[1]?.reject(new Error("down"));
  await turn();
  expect(await value.current()).toBe("one");
  expect(fetches).toHaveLength(2);
  vi.setSystemTime(57 * MINUTE);
  expect(await value.current()).toBe("one");
  expect(fetches).toHaveLength(3);
  vi.setSystemTime(60 * MINUTE);
  const last = value.current();
  fetches[2]?.reject(new Error("down"));
  await expect(last).rejects.toThrow("down");
  await expect(value.current()).rejects.toThrow("down");
  expect(fetches).toHaveLength(3);
});
