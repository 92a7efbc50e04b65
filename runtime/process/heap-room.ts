import { getHeapStatistics } from "node:v8";
import { resourceLimits } from "node:worker_threads";

/** Bytes of the heap's limit that only young objects can use in the main thread. */
const YOUNG = 192 * 2 ** 20;

/** Returns how many bytes of objects that live long a thread can have, before V8 ends it or the process. */
export function heapRoom(): number {
  const { maxOldGenerationSizeMb } = resourceLimits;
  if (maxOldGenerationSizeMb !== undefined) return maxOldGenerationSizeMb * 2 ** 20;
  const { heap_size_limit } = getHeapStatistics();
  return Math.max(heap_size_limit - YOUNG, heap_size_limit / 2);
}
