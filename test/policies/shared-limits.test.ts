import { hash } from "node:crypto";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import fc from "fast-check";
import { expect, it } from "vitest";
import { LiveContext } from "../../runtime/gateway/live-context.ts";
import { Metrics } from "../../runtime/metrics/metrics.ts";
import { persistedTables } from "../../runtime/policies/local-rate-limit/shared-persisted-limits.ts";
import { SharedUses } from "../../runtime/policies/local-rate-limit/shared-uses.ts";
import { releaseLock } from "../../runtime/process/thread-lock.ts";
import { root } from "../harness/root.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

function digest(key: string): Buffer {
  return hash("sha256", key, "buffer");
}

function open(most: number, thread = 0, memory = new SharedArrayBuffer(SharedUses.bytes(most))) {
  return { memory, uses: new SharedUses(memory, most, thread) };
}

/** Takes one, and returns the previous usage. */
function take(uses: SharedUses, key: string): number {
  return uses.with(digest(key), (use) => {
    const before = use.used;
    use.used += 1;
    return before;
  });
}

it("a shared table remembers the most recently seen callers", () => {
  const keys = fc.array(fc.constantFrom(..."abcdefghijkl"), { maxLength: 200 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9 }), keys, (most, seen) => {
      const { uses } = open(most);
      const model = new Map<string, number>();
      for (const key of seen) {
        const before = model.get(key) ?? 0;
        if (!model.delete(key) && model.size >= most) model.delete([...model.keys()][0] ?? "");
        model.set(key, before + 1);
        expect(take(uses, key)).toBe(before);
      }
    }),
  );
});

it("a full table drops a caller whose usage no longer counts first", () => {
  const { uses } = open(2);
  uses.with(digest("counts"), (use) => {
    use.until = Date.now() + 60_000;
  });
  take(uses, "counts");
  take(uses, "idle");
  take(uses, "new");
  expect(take(uses, "counts")).toBe(1);
  expect(take(uses, "idle")).toBe(0);
});

it("concurrent requests on two threads are counted exactly", async () => {
  const { memory, uses } = open(4, 0);
  const module = path.join(root, "runtime/policies/local-rate-limit/shared-uses.ts");
  const code = `
    import { hash } from "node:crypto";
    import { workerData } from "node:worker_threads";
    const { SharedUses } = await import(${JSON.stringify(pathToFileURL(module).href)});
    const uses = new SharedUses(workerData.memory, 4, workerData.thread);
    const keys = ["a", "b", "c"].map((key) => hash("sha256", key, "buffer"));
    for (let i = 0; i < 30_000; i++) uses.with(keys[i % 3], (use) => { use.used += 1; });
  `;
  const url = new URL(`data:text/javascript,${encodeURIComponent(code)}`);
  const threads = [1, 2].map(
    (thread) => new Worker(url, { workerData: { memory, thread }, stderr: false }),
  );
  await Promise.all(
    threads.map((thread) => new Promise((resolve) => thread.once("exit", resolve))),
  );
  expect(["a", "b", "c"].map((key) => take(uses, key))).toEqual([20_000, 20_000, 20_000]);
});

it("a thread that ends in a locked table leaves an empty one", () => {
  const { memory, uses } = open(4, 0);
  take(uses, "a");
  // The table while thread 1 works on it.
  Atomics.store(new Int32Array(memory), 0, 2);
  releaseLock(memory, 3);
  expect(Atomics.load(new Int32Array(memory), 0)).toBe(2);
  releaseLock(memory, 1);
  expect(take(uses, "a")).toBe(0);
});

it("a persisted table is restored after a thread has ended in it", async () => {
  const stateDir = temporaryFolder();
  const env = { podName: "", namespace: "", gateway: "shop" };
  const settings = { sessionKeys: [Buffer.alloc(32)] as const, env, maxBufferedBytes: 1, stateDir };
  const context = () => new LiveContext(settings, new Metrics(), () => {});
  const tables = persistedTables(context());
  const memory = tables.memory("route/perDayByKey", 4);
  const { uses } = open(4, 1, memory);
  const use = (used: number) => {
    uses.with(digest("a"), (each) => {
      Object.assign(each, { used, since: Date.now(), until: Date.now() + 60_000 });
      uses.change();
    });
  };
  use(5);
  await tables.flush();
  use(6);
  Atomics.store(new Int32Array(memory), 0, 2);
  tables.threadEnded(1);
  expect(take(uses, "a")).toBe(5);
  use(7);
  await tables.flush();
  const restarted = persistedTables(context()).memory("route/perDayByKey", 4);
  expect(take(open(4, 0, restarted).uses, "a")).toBe(7);
});
