/** The place of a thread among those that share the ports of a process (workers.ts). */
export interface WorkerPlace {
  /** From 0. */
  readonly index: number;
  readonly count: number;
  /** The bytes that each of them holds of messages which are read whole. */
  readonly buffers: Float64Array;
}
