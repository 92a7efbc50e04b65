import { getHeapStatistics } from "node:v8";
import { resourceLimits } from "node:worker_threads";

/** Bytes of V8's limits of a thread. */
export interface HeapLimits {
  /** Objects that live long. */
  readonly old: number;
  /** Objects that one collection can move from the young to the old ones. V8 has three such parts for young objects. */
  readonly young: number;
}

const MEGABYTE = 2 ** 20;

/** V8's default of `young`, and the share of the heap's limit that it has in small heaps. */
const MAX_YOUNG = 64 * MEGABYTE;
const YOUNG_SHARE = 1 / 35;

/** The last option that sets the limit of old objects. */
const OLD_OPTION = /.*--max[-_]old[-_]space[-_]size[= ](\d+)/s;

/** Returns the limits of this thread. Those of the main thread are exact with `--max-old-space-size` or without options of V8. */
export function heapLimits(): HeapLimits {
  const { maxOldGenerationSizeMb, maxYoungGenerationSizeMb } = resourceLimits;
  if (maxOldGenerationSizeMb !== undefined && maxYoungGenerationSizeMb !== undefined)
    return {
      old: maxOldGenerationSizeMb * MEGABYTE,
      young: (maxYoungGenerationSizeMb * MEGABYTE) / 3,
    };
  const { heap_size_limit: all } = getHeapStatistics();
  const options = [process.env.NODE_OPTIONS, ...process.execArgv].join(" ");
  const [, megabytes] = OLD_OPTION.exec(options) ?? [];
  if (megabytes !== undefined) {
    const old = Number(megabytes) * MEGABYTE;
    return { old, young: (all - old) / 3 };
  }
  const young = Math.min(MAX_YOUNG, all * YOUNG_SHARE);
  return { old: all - 3 * young, young };
}
