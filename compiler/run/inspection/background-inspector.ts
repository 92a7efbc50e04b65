import { Worker } from "node:worker_threads";
import { threadModule } from "../../installation.ts";
import type { AccessData, DiffData } from "../admin/api/admin-api.ts";
import type { ComparedVersion, InspectionOrder } from "./inspect.ts";

/** Maximum megabytes of a thread: a question that needs more is not decided. */
const MAX_MEGABYTES = 1024;

/**
 * Decides questions about configurations, each in a thread that ends with it: requests do not wait for them. Equal questions
 * are asked once, and at most one thread runs.
 */
export class BackgroundInspector {
  readonly #access = new WeakMap<object, Promise<AccessData>>();
  readonly #diffs = new WeakMap<object, Promise<DiffData>>();
  #work: Promise<unknown> = Promise.resolve();

  /** Decides which callers may use what. Rejects if the thread ends over it. */
  access(version: ComparedVersion): Promise<AccessData> {
    return once(this.#access, version.program, () => this.#next({ kind: "access", version }));
  }

  /** Finds the lines of places, without waiting for other questions. Rejects if the thread ends over it. */
  lines(version: ComparedVersion): Promise<ReadonlyMap<string, number>> {
    return ask({ kind: "lines", version });
  }

  /** Compares two versions, of which each has one predecessor. Rejects if the thread ends over it. */
  diff(before: ComparedVersion, after: ComparedVersion): Promise<DiffData> {
    return once(this.#diffs, after.program, () => this.#next({ kind: "diff", before, after }));
  }

  #next<Data>(order: InspectionOrder): Promise<Data> {
    const result = this.#work.then(() => ask<Data>(order));
    this.#work = result.catch(() => {});
    return result;
  }
}

/** Returns the result for a key, which is forgotten with it, or if it fails. */
function once<Data>(
  known: WeakMap<object, Promise<Data>>,
  key: object,
  decide: () => Promise<Data>,
): Promise<Data> {
  const found = known.get(key);
  if (found !== undefined) return found;
  const made = decide();
  known.set(key, made);
  made.catch(() => known.delete(key));
  return made;
}

function ask<Data>(order: InspectionOrder): Promise<Data> {
  const worker = new Worker(threadModule("run/inspection/inspection-worker"), {
    resourceLimits: { maxOldGenerationSizeMb: MAX_MEGABYTES },
  });
  // The gateway ends without it.
  worker.unref();
  return new Promise<Data>((resolve, reject) => {
    worker.once("error", reject);
    worker.once("exit", () => reject(new Error("the thread that inspects has ended")));
    worker.once("message", resolve);
    worker.postMessage(order);
  }).finally(() => worker.terminate());
}
