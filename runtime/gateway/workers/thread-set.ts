import { MessageChannel } from "node:worker_threads";
import type { ThreadPorts } from "../../http/engine/handover/handover.ts";
import type { FamilyFigures } from "../../metrics/merged-exposition.ts";
import type { BuildInfo } from "../build-info.ts";
import type { SharedMemory } from "./shared-memory.ts";
import { type ThreadOwner, WorkerHandle } from "./worker-thread.ts";

/** What threads run. */
export interface ThreadSource {
  /** The URL of what each of them loads for itself. */
  readonly script: string;
  readonly build: BuildInfo;
  /** What the script is to serve, where it can serve other code later; absent: it serves one. */
  readonly code?: unknown;
  /** What the script is notified of when it starts; absent: nothing. */
  readonly notices?: () => readonly unknown[];
}

/** What a thread is started for. */
export interface ThreadWork {
  readonly index: number;
  /** How many serve. */
  readonly count: number;
  readonly build: BuildInfo;
  readonly code: unknown;
  /** It says on which ports it listens. */
  readonly speaks: boolean;
  /** Requests may be handed over to it. */
  readonly hasLinks: boolean;
}

/** Who is told of what threads do. */
export interface ThreadListener extends Pick<ThreadOwner, "lines" | "audit"> {
  /** `isSurplus`: it was to end. */
  ended(thread: WorkerHandle, failure: string | undefined, isSurplus: boolean): void;
}

/**
 * The threads of a process: those that serve, each in a place with a number, and those that end because fewer are wanted.
 * What they counted outlives them, and the last one to end is waited for.
 */
export class ThreadSet {
  readonly #source: ThreadSource;
  readonly #sessionKey: string;
  readonly #memory: SharedMemory;
  readonly #listener: ThreadListener;
  readonly #serving = new Map<number, WorkerHandle>();
  /** Those that end because fewer are wanted. */
  readonly #surplus = new Set<WorkerHandle>();
  /** The figures of threads that have ended: what is counted never falls. */
  readonly #past: FamilyFigures[] = [];
  /** Called when the last thread has ended. */
  #onAllEnded: (() => void) | undefined;

  /** `sessionKey`: as 64 hexadecimal digits. */
  constructor(
    source: ThreadSource,
    sessionKey: string,
    memory: SharedMemory,
    listener: ThreadListener,
  ) {
    this.#source = source;
    this.#sessionKey = sessionKey;
    this.#memory = memory;
    this.#listener = listener;
  }

  /** Those that serve, or are about to. */
  get list(): readonly WorkerHandle[] {
    return [...this.#serving.values()];
  }

  /** Whether a place is free: one that is about to end has its own until then. */
  isFree(index: number): boolean {
    const isSurplus = this.#surplus.values().some((each) => each.index === index);
    return !this.#serving.has(index) && !isSurplus;
  }

  /** Starts one; it serves once its `serving()` resolves and it has not failed. */
  start({ hasLinks, ...work }: ThreadWork): WorkerHandle {
    const made = hasLinks ? newLinks(work.index, this.list) : [];
    const { script, notices } = this.#source;
    const thread = new WorkerHandle(
      script,
      {
        kind: "gwc-worker",
        ...{ ...work, links: made.map(({ to }) => to), buffers: this.#memory.buffers },
        notices: notices?.() ?? [],
      },
      { ...process.env, SESSION_KEY: this.#sessionKey },
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
      // Until it serves, nothing is handed over to it: what it holds is not there yet.
      if (thread.isServing) for (const { giveBack } of made) giveBack();
    });
    return thread;
  }

  /** Fewer are wanted: those from a place on end by themselves, and what they hold with them. */
  endFrom(count: number): void {
    for (const thread of this.list.filter(({ index }) => index >= count)) {
      this.#serving.delete(thread.index);
      this.#surplus.add(thread);
      thread.end();
    }
  }

  /** Ends all that serve, together; after `longest` milliseconds whatever has not ended is broken off. */
  async endAll(longest: number): Promise<void> {
    const ended = new Promise<void>((resolve) => {
      this.#onAllEnded = resolve;
    });
    for (const thread of this.list) thread.end();
    const timer = setTimeout(() => this.breakOff(), longest);
    if (this.#living.length > 0) await ended;
    clearTimeout(timer);
  }

  /** Ends all at once, whatever they do. */
  breakOff(): void {
    for (const thread of this.#living) void thread.terminate();
  }

  /** What each of them has counted, and those that have ended. */
  async figures(): Promise<readonly (readonly FamilyFigures[])[]> {
    const states = await Promise.all(this.#living.map((thread) => thread.state()));
    return [...states.map((state) => state?.figures ?? []), this.#past];
  }

  /** Whether somebody serves, and where they may wait for something nobody does. */
  async isReady(mayWait: boolean): Promise<boolean> {
    const threads = this.list.filter(({ isServing }) => isServing);
    if (threads.length === 0 || !mayWait) return threads.length > 0;
    const states = await Promise.all(threads.map((thread) => thread.state()));
    return states.every((state) => state?.isReady !== false);
  }

  /** With those that are about to end. */
  get #living(): readonly WorkerHandle[] {
    return [...this.list, ...this.#surplus];
  }

  /** Those that have no connection any more wait for the last one: it may need what they hold. */
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
