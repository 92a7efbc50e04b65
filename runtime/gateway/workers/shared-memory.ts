import type { GatewayContext, PersistedMemory } from "../../process/gateway-context.ts";
import { releaseLock } from "../../process/thread-lock.ts";
import type { Gateway } from "../definition.ts";
import { MAX_THREADS } from "./worker-count.ts";
import type { MemorySize } from "./worker-messages.ts";

/** What the threads of a process share, as its main thread has it. */
export class SharedMemory {
  /** The bytes that each of them holds of messages which are read whole. */
  readonly buffers: Float64Array = new Float64Array(new SharedArrayBuffer(8 * MAX_THREADS));
  readonly #context: GatewayContext;
  readonly #byName = new Map<string, SharedArrayBuffer>();
  #openPersisted: Gateway["persistedMemory"];
  /** What of it is written down, from the first one that asks on. */
  #kept: PersistedMemory | undefined;

  constructor(context: GatewayContext) {
    this.#context = context;
  }

  /** Threads are about to serve this. */
  expect({ persistedMemory }: Gateway): void {
    // Requests under way may still be of one before.
    this.#openPersisted ??= persistedMemory;
  }

  /** What all of them have under a name. */
  of(name: string, size: MemorySize): SharedArrayBuffer {
    if ("keptKeys" in size) {
      this.#kept ??= this.#openPersisted?.(this.#context);
      if (this.#kept === undefined)
        throw new Error("a thread asks for memory that nobody writes down");
      return this.#kept.memory(name, size.keptKeys);
    }
    const memory = this.#byName.get(name) ?? new SharedArrayBuffer(size.bytes);
    this.#byName.set(name, memory);
    return memory;
  }

  /** A thread has ended, whatever it was doing with any of it. */
  threadEnded(index: number): void {
    this.buffers[index] = 0;
    for (const memory of this.#byName.values()) releaseLock(memory, index);
    this.#kept?.threadEnded(index);
  }

  /** Resolves when what a restart must not forget is written, or could not be. */
  async flush(): Promise<void> {
    await this.#kept?.flush();
  }
}
