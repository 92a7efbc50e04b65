import { getHeapStatistics } from "node:v8";

/** Bytes of the heap's limit that only young objects can use. */
const YOUNG = 192 * 2 ** 20;

/** Returns how many bytes of objects that live long a thread can have, before V8 ends it or the process. */
export function heapRoom(): number {
  const { heap_size_limit } = getHeapStatistics();
  return Math.max(heap_size_limit - YOUNG, heap_size_limit / 2);
}
