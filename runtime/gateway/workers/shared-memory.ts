import type { GatewayContext, PersistedMemory } from "../../process/gateway-context.ts";
import { releaseLock } from "../../process/thread-lock.ts";
import type { Gateway } from "../definition.ts";
import { MAX_THREADS } from "./worker-count.ts";
import type { MemorySize } from "./worker-messages.ts";

/** Memory that the threads of a process share, as managed by the main thread. */
export class SharedMemory {
  /** Bytes of messages that each thread buffers whole. */
  readonly buffers: Float64Array = new Float64Array(new SharedArrayBuffer(8 * MAX_THREADS));
  readonly #context: GatewayContext;
  readonly #byName = new Map<string, SharedArrayBuffer>();
  #openPersisted: Gateway["persistedMemory"];
  /** The persisted part, created at the first request for it. */
  #kept: PersistedMemory | undefined;

  constructor(context: GatewayContext) {
    this.#context = context;
  }

  /** Prepares memory for code that threads are about to serve. */
  expect({ persistedMemory }: Gateway): void {
    // Requests in flight may still use the previous one.
    this.#openPersisted ??= persistedMemory;
  }

  /** Returns the memory of a name. */
  of(name: string, size: MemorySize): SharedArrayBuffer {
    if ("keptKeys" in size) {
      this.#kept ??= this.#openPersisted?.(this.#context);
      if (this.#kept === undefined)
        throw new Error("a thread requested memory that is not persisted");
      return this.#kept.memory(name, size.keptKeys);
    }
    const memory = this.#byName.get(name) ?? new SharedArrayBuffer(size.bytes);
    this.#byName.set(name, memory);
    return memory;
  }

  /** Repairs memory after a thread has ended, whatever it was writing. */
  threadEnded(index: number): void {
    this.buffers[index] = 0;
    for (const memory of this.#byName.values()) releaseLock(memory, index);
    this.#kept?.threadEnded(index);
  }

  /** Resolves when all persisted state is written, or writing it has failed. */
  async flush(): Promise<void> {
    await this.#kept?.flush();
  }
}
