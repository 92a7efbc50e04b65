import { MessageChannel } from "node:worker_threads";
import type { ThreadPorts } from "../../http/engine/handover/handover.ts";
import type { FamilyFigures } from "../../metrics/merged-exposition.ts";
import type { BuildInfo } from "../build-info.ts";
import type { SharedMemory } from "./shared-memory.ts";
import { type ThreadOwner, WorkerHandle } from "./worker-thread.ts";

/** Code that threads run. */
export interface ThreadSource {
  /** URL of the module that each thread loads. */
  readonly script: string;
  readonly build: BuildInfo;
  /** Code for the script, if it can serve other code later; otherwise absent. */
  readonly code?: unknown;
  /** Returns the notices for a starting script; none if absent. */
  readonly notices?: () => readonly unknown[];
}

/** Role of a starting thread. */
export interface ThreadWork {
  readonly index: number;
  /** Number of serving threads. */
  readonly count: number;
  readonly build: BuildInfo;
  readonly code: unknown;
  /** Whether it logs the ports that it listens on. */
  readonly speaks: boolean;
  /** Whether requests may be handed over to it. */
  readonly hasLinks: boolean;
}

/** Receives events of threads. */
export interface ThreadListener extends Pick<ThreadOwner, "lines" | "audit"> {
  /** `isSurplus`: the thread was meant to end. */
  ended(thread: WorkerHandle, failure: string | undefined, isSurplus: boolean): void;
}

/**
 * The threads of a process: those that serve, each with an index, and those that end because there are too many. Their counts
 * outlive them, and shutdown waits for the last one.
 */
export class ThreadSet {
  readonly #source: ThreadSource;
  readonly #sessionKeys: string;
  readonly #memory: SharedMemory;
  readonly #listener: ThreadListener;
  readonly #serving = new Map<number, WorkerHandle>();
  /** Threads that end because there are too many. */
  readonly #surplus = new Set<WorkerHandle>();
  /** Figures of ended threads, because counters must not fall. */
  readonly #past: FamilyFigures[] = [];
  /** Called when the last thread has ended. */
  #onAllEnded: (() => void) | undefined;

  /** `sessionKeys`: as the value of SESSION_KEY. */
  constructor(
    source: ThreadSource,
    sessionKeys: string,
    memory: SharedMemory,
    listener: ThreadListener,
  ) {
    this.#source = source;
    this.#sessionKeys = sessionKeys;
    this.#memory = memory;
    this.#listener = listener;
  }

  /** Threads that serve or start. */
  get list(): readonly WorkerHandle[] {
    return [...this.#serving.values()];
  }

  /** Whether an index is free: a thread that is about to end still has its own. */
  isFree(index: number): boolean {
    const isSurplus = this.#surplus.values().some((each) => each.index === index);
    return !this.#serving.has(index) && !isSurplus;
  }

  /** Starts a thread. It serves once its `serving()` has resolved without failure. */
  start({ hasLinks, ...work }: ThreadWork): WorkerHandle {
    const made = hasLinks ? newLinks(work.index, this.list) : [];
    const { script, notices } = this.#source;
    const thread = new WorkerHandle(
      script,
      {
        kind: "gwc-worker",
        ...{ ...work, links: made.map(({ to }) => to), buffers: this.#memory.buffers },
        hasRandomKey: !process.env.SESSION_KEY,
        notices: notices?.() ?? [],
      },
      { ...process.env, SESSION_KEY: this.#sessionKeys },
      {
        lines: (lines) => this.#listener.lines(lines),
        audit: (line) => this.#listener.audit(line),
        memory: (name, size) => this.#memory.of(name, size),
        closed: (closed) => {
          if (this.#surplus.has(closed)) closed.allClosed();
          else this.#endTogether();
        },
        ended: (ended, failure) => this.#ended(ended, failure),
      },
    );
    this.#serving.set(work.index, thread);
    void thread.serving().then(() => {
      // Nothing is handed over to it until it serves: it holds no state yet.
      if (thread.isServing) for (const { giveBack } of made) giveBack();
    });
    return thread;
  }

  /** Ends the threads from an index on, gracefully, with the state that they hold. */
  endFrom(count: number): void {
    for (const thread of this.list.filter(({ index }) => index >= count)) {
      this.#serving.delete(thread.index);
      this.#surplus.add(thread);
      thread.end();
    }
  }

  /** Ends all serving threads; after `longest` milliseconds the remaining ones are terminated. */
  async endAll(longest: number): Promise<void> {
    const ended = new Promise<void>((resolve) => {
      this.#onAllEnded = resolve;
    });
    for (const thread of this.list) thread.end();
    const timer = setTimeout(() => this.breakOff(), longest);
    if (this.#living.length > 0) await ended;
    clearTimeout(timer);
  }

  /** Terminates all threads. */
  breakOff(): void {
    for (const thread of this.#living) void thread.terminate();
  }

  /** Returns the figures of all threads, ended ones included. */
  async figures(): Promise<readonly (readonly FamilyFigures[])[]> {
    const states = await Promise.all(this.#living.map((thread) => thread.state()));
    return [...states.map((state) => state?.figures ?? []), this.#past];
  }

  /** Whether a thread serves; where threads may wait for something, whether none waits. */
  async isReady(mayWait: boolean): Promise<boolean> {
    const threads = this.list.filter(({ isServing }) => isServing);
    if (threads.length === 0 || !mayWait) return threads.length > 0;
    const states = await Promise.all(threads.map((thread) => thread.state()));
    return states.every((state) => state?.isReady !== false);
  }

  /** All threads that have not ended. */
  get #living(): readonly WorkerHandle[] {
    return [...this.list, ...this.#surplus];
  }

  /** Ends threads without connections only once all are without, because others may need their state. */
  #endTogether(): void {
    const threads = this.list;
    if (threads.every(({ isClosed }) => isClosed)) for (const thread of threads) thread.allClosed();
  }

  #ended(thread: WorkerHandle, failure: string | undefined): void {
    const isSurplus = this.#surplus.delete(thread);
    if (!isSurplus) this.#serving.delete(thread.index);
    this.#memory.threadEnded(thread.index);
    this.#past.push(...thread.lastFigures.filter(({ kind }) => kind !== "gauge"));
    if (this.#onAllEnded !== undefined) this.#endTogether();
    if (this.#living.length === 0) this.#onAllEnded?.();
    this.#listener.ended(thread, failure, isSurplus);
  }
}

/** A pair of ports between a starting thread and another one. */
export interface NewLink {
  /** Ports of the starting thread. */
  readonly to: ThreadPorts;
  /** Sends the other thread its ports. */
  readonly giveBack: () => void;
}

/** Creates ports between a thread of this index and each of the others. */
function newLinks(index: number, others: readonly WorkerHandle[]): readonly NewLink[] {
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
