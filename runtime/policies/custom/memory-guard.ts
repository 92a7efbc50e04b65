import { totalmem } from "node:os";
import { constants, PerformanceObserver } from "node:perf_hooks";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { heapLimits } from "../../process/heap-limits.ts";

/** Share of the memory from which on hooks are not called, and below which they are called again. */
const FULL = 0.75;
const FREE = 0.65;
/** Share of the memory, garbage included, from which on garbage is collected at once to know what is used. */
const UNKNOWN = 0.85;

/** Milliseconds between two looks at a full memory. */
const PAUSE = 1000;
/** Share of the time in which garbage of a full memory may be collected. */
const COLLECTING = 0.05;
/** Milliseconds between two looks at a memory that is not full. */
const INTERVAL = 2;

/**
 * Stops calls of hooks while the memory of the thread is nearly full, because a policy that keeps more and more would end the
 * process and all its requests with it. Requests without custom policies are served on.
 *
 * Used memory is only known after a full collection: before, it contains garbage. V8 collects in the background, which may take
 * longer than a policy needs to fill the rest.
 */
class MemoryGuard {
  #observer: PerformanceObserver | undefined;
  #full: string | undefined;
  /** When a request saw the full memory; `undefined` if none has. */
  #seenAt: number | undefined;
  #nextLook = 0;
  /** When garbage of a full memory may be collected again. */
  #nextCollection = 0;

  /** Throws if the memory is nearly full. `onFull` is called once for each time. */
  requireRoom(onFull: (problem: string) => void): void {
    this.#observer ??= this.#observe();
    const now = performance.now();
    if (this.#full === undefined && now >= this.#nextLook) {
      if (usedShare().share > UNKNOWN) this.#collect();
      this.#nextLook = performance.now() + INTERVAL;
    }
    if (this.#full === undefined) return;
    if (this.#seenAt === undefined) onFull(this.#full);
    if (this.#seenAt === undefined || now > this.#seenAt + PAUSE) {
      this.#seenAt = now;
      this.#lookAgain(now);
    }
    if (this.#full !== undefined) throw new MemoryFull(`not called, because ${this.#full}`);
  }

  #observe(): PerformanceObserver {
    const observer = new PerformanceObserver((list) => {
      if (list.getEntries().some(isFullCollection)) this.#measure();
    });
    observer.observe({ entryTypes: ["gc"] });
    return observer;
  }

  /**
   * A thread that calls no hooks may allocate so little that V8 does not collect what a former version of a policy kept.
   * `now`: milliseconds.
   */
  #lookAgain(now: number): void {
    // Even with garbage there is room.
    if (usedShare().share < FREE) this.#full = undefined;
    else if (now >= this.#nextCollection) {
      collectGarbage("major");
      this.#measure();
      const end = performance.now();
      this.#nextCollection = end + Math.max(PAUSE, (end - now) / COLLECTING);
    }
  }

  /** Removes garbage of young objects, and then all garbage, until it is known whether the memory is nearly full. */
  #collect(): void {
    collectGarbage("minor");
    if (usedShare().share <= UNKNOWN) return;
    collectGarbage("major");
    this.#measure();
  }

  #measure(): void {
    const used = usedShare();
    const { share } = used;
    if (share > FULL) {
      if (this.#full === undefined) this.#seenAt = undefined;
      this.#full = usedText(used);
    } else if (share < FREE) this.#full = undefined;
  }
}

/** The hook was not called, because the memory is nearly full. */
class MemoryFull extends Error {
  override readonly name = "MemoryFull";
}

function isFullCollection(entry: object): boolean {
  const detail = "detail" in entry ? entry.detail : undefined;
  return (
    typeof detail === "object" &&
    detail !== null &&
    "kind" in detail &&
    detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR
  );
}

/** Bytes that the heap of this thread, and the process, can have. */
let room: number | undefined;
let memory: number | undefined;

/**
 * If the old objects leave no room for the young ones, V8 collects all garbage where it would collect that of young objects, and
 * it ends the process if most time is spent so.
 */
function roomOfHeap(): number {
  const { old, young } = heapLimits();
  return Math.max(old - young, old / 2);
}

function memoryOfProcess(): number {
  // 0, or more than the machine has, if nothing limits the process.
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

let collect: ((type: "minor" | "major") => void) | undefined;

/** Blocks for as long as the collection takes. */
function collectGarbage(type: "minor" | "major"): void {
  if (collect === undefined) {
    setFlagsFromString("--expose-gc");
    const gc: unknown = runInNewContext("gc");
    setFlagsFromString("--no-expose-gc");
    collect =
      typeof gc === "function"
        ? (wanted) => void Reflect.apply(gc, undefined, [{ type: wanted }])
        : () => {};
  }
  collect(type);
}

/** Use of the heap, or of all memory. */
interface UsedShare {
  readonly what: "heap" | "memory";
  readonly share: number;
  /** Bytes. */
  readonly used: number;
  readonly limit: number;
}

/** Returns the larger share: of the heap's limit, or of the machine's or container's memory, which buffers use as well. */
function usedShare(): UsedShare {
  const { used_heap_size: used, external_memory } = getHeapStatistics();
  room ??= roomOfHeap();
  memory ??= memoryOfProcess();
  const all = used + external_memory;
  return used / room > all / memory
    ? { what: "heap", share: used / room, used, limit: room }
    : { what: "memory", share: all / memory, used: all, limit: memory };
}

function usedText({ what, used, limit }: UsedShare): string {
  const megabytes = (bytes: number) => Math.round(bytes / 2 ** 20);
  return `${megabytes(used)} of ${megabytes(limit)} MB of the ${what} are in use`;
}

/** The guard of this thread. */
export const memoryGuard: MemoryGuard = new MemoryGuard();
