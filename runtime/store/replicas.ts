import type { CallHandle, LineCall, ServeLineCall } from "../process/line-calls.ts";

/** Calls between the replicas that share a store. Messages are sealed, so that the store cannot read or change them. */
export interface Replicas {
  /**
   * Serves calls of other replicas from now on. `key`: key of AES-256-GCM that the replicas share. Returns the same object each time.
   */
  open(key: Buffer, serve: ServeLineCall): ReplicaCalls;
}

/** Calls to other replicas. */
export interface ReplicaCalls {
  /** Name of this replica; each thread of a process and each start have one of their own. */
  readonly name: string;
  /** Starts a call. Its listener is told that it is gone if the replica does not respond. */
  call(replica: string, ...call: LineCall): CallHandle | undefined;
}
