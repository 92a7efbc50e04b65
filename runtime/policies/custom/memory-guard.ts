import { totalmem } from "node:os";
import { constants, PerformanceObserver } from "node:perf_hooks";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { heapRoom } from "../../process/heap-room.ts";

/** Share of the memory from which on hooks are not called, and below which they are called again. */
const FULL = 0.75;
const FREE = 0.65;
/** Share of the memory, garbage included, from which on garbage is collected at once to know what is used. */
const UNKNOWN = 0.85;

/** Milliseconds between two looks at a full memory. */
const PAUSE = 1000;
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
  #lookedAt = 0;
  #nextLook = 0;

  /** Throws if the memory is nearly full. `onFull` is called once for each time. */
  requireRoom(onFull: (problem: string) => void): void {
    this.#observer ??= this.#observe();
    const now = performance.now();
    if (this.#full === undefined && now >= this.#nextLook) {
      if (usedShare().share > UNKNOWN) this.#collect();
      this.#nextLook = performance.now() + INTERVAL;
    }
    if (this.#full === undefined) return;
    if (now > this.#lookedAt + PAUSE) {
      if (this.#lookedAt === 0) onFull(this.#full);
      this.#lookedAt = now;
      // Even with garbage there is room.
      if (usedShare().share < FREE) this.#full = undefined;
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

  /** Removes garbage of young objects, and then all garbage, until it is known whether the memory is nearly full. */
  #collect(): void {
    collectGarbage({ type: "minor" });
    if (usedShare().share <= UNKNOWN) return;
    collectGarbage({ type: "major" });
    this.#measure();
  }

  #measure(): void {
    const { share, text } = usedShare();
    if (share > FULL) {
      if (this.#full === undefined) this.#lookedAt = 0;
      this.#full = text;
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

/** Bytes of long-lived objects, and of all memory, that this thread and the process can have. */
let room: number | undefined;
let memory: number | undefined;

function memoryOfProcess(): number {
  // 0, or more than the machine has, if nothing limits the process.
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

type Collect = (options: { readonly type: "minor" | "major" }) => void;
let collect: Collect | undefined;

/** Blocks for as long as the collection takes. */
function collectGarbage(options: { readonly type: "minor" | "major" }): void {
  if (collect === undefined) {
    setFlagsFromString("--expose-gc");
    const gc: unknown = runInNewContext("gc");
    setFlagsFromString("--no-expose-gc");
    collect =
      typeof gc === "function" ? (wanted) => void Reflect.apply(gc, undefined, [wanted]) : () => {};
  }
  collect(options);
}

/** Returns the larger share: of the heap's limit, or of the machine's or container's memory, which buffers use as well. */
function usedShare(): { readonly share: number; readonly text: string } {
  const { used_heap_size, external_memory } = getHeapStatistics();
  room ??= heapRoom();
  memory ??= memoryOfProcess();
  const heap = used_heap_size / room;
  const all = (used_heap_size + external_memory) / memory;
  return heap > all
    ? { share: heap, text: usedText("the heap", used_heap_size, room) }
    : { share: all, text: usedText("the memory", used_heap_size + external_memory, memory) };
}

function usedText(what: string, used: number, limit: number): string {
  const megabytes = (bytes: number) => Math.round(bytes / 2 ** 20);
  return `${megabytes(used)} of ${megabytes(limit)} MB of ${what} are in use`;
}

/** The guard of this thread. */
export const memoryGuard: MemoryGuard = new MemoryGuard();
