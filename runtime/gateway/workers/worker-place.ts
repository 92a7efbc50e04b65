/** A thread's place among those that share the ports of a process (workers.ts). */
export interface WorkerPlace {
  /** From 0. */
  readonly index: number;
  readonly count: number;
  /** Bytes of messages that each thread buffers whole. */
  readonly buffers: Float64Array;
  /** Whether the key of sessions is random for this process, although the thread gets it in SESSION_KEY. */
  readonly hasRandomKey: boolean;
}
