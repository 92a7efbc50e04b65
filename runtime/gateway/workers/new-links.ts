import { MessageChannel } from "node:worker_threads";
import type { ThreadPorts } from "../../http/engine/handover/handover.ts";
import type { WorkerHandle } from "./worker-thread.ts";

/** A way between a thread that starts and another one. */
export interface NewLink {
  /** For the one that starts. */
  readonly to: ThreadPorts;
  /** Gives its end to the other one. */
  readonly giveBack: () => void;
}

/** A way from a thread of this index to each of the others, and back. */
export function newLinks(index: number, others: readonly WorkerHandle[]): readonly NewLink[] {
  return others.map((other) => {
    const requests = new MessageChannel();
    const calls = new MessageChannel();
    const back = { index, requests: requests.port1, calls: calls.port1 };
    return {
      to: { index: other.index, requests: requests.port2, calls: calls.port2 },
      giveBack: () => other.link(back),
    };
  });
}
