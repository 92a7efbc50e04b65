/** A thread's place among those that share the ports of a process (workers.ts). */
export interface WorkerPlace {
  /** From 0. */
  readonly index: number;
  readonly count: number;
  /** Bytes of messages that each thread buffers whole. */
  readonly buffers: Float64Array;
}
