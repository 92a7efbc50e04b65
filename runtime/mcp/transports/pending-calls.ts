import type { Message } from "../protocol/message.ts";
import { progressTokenOf } from "../protocol/progress-token.ts";
import type { CallSink } from "./target.ts";

/** A request that waits for its response on a shared connection. */
export interface PendingCall {
  readonly request: Message;
  readonly sink: CallSink;
  /** Its `_meta.progressToken` as JSON text; undefined when it has none. */
  readonly progressToken: string | undefined;
  readonly timer: NodeJS.Timeout;
  /** Its client reads slowly; the connection waits. */
  isPaused: boolean;
}

/** The requests under way on one connection, by id. */
export class PendingCalls {
  readonly #byId = new Map<string, PendingCall>();
  readonly #deadline: number;
  readonly #onDeadline: (call: PendingCall) => void;

  /** `deadline`: milliseconds without a sign of life. */
  constructor(deadline: number, onDeadline: (call: PendingCall) => void) {
    this.#deadline = deadline;
    this.#onDeadline = onDeadline;
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Undefined when a request with this id is under way. */
  add(request: Message, sink: CallSink): PendingCall | undefined {
    if (this.#byId.has(request.id)) return undefined;
    const call: PendingCall = {
      request,
      sink,
      progressToken: progressTokenOf(request),
      timer: setTimeout(() => this.#onDeadline(call), this.#deadline),
      isPaused: false,
    };
    this.#byId.set(request.id, call);
    return call;
  }

  /** The call that a response's id belongs to. */
  find(id: string): PendingCall | undefined {
    const exact = this.#byId.get(id);
    if (exact !== undefined || id.startsWith('"')) return exact;
    // Servers that read numbers as doubles write 1.0 as 1 and lose digits beyond 2^53.
    const number = Number(id);
    for (const [raw, call] of this.#byId) {
      if (!raw.startsWith('"') && Number(raw) === number) return call;
    }
    return undefined;
  }

  findByProgressToken(token: string): PendingCall | undefined {
    for (const call of this.#byId.values()) if (call.progressToken === token) return call;
    return undefined;
  }

  /** The calls that may be the cause of what the server says, oldest first. */
  candidates(): PendingCall[] {
    return [...this.#byId.values()].filter(({ request }) => !SILENT.has(request.method));
  }

  /** Waits for the whole deadline again. */
  restart(call: PendingCall): void {
    call.timer.refresh();
  }

  /** False when it was not there any more. */
  remove(call: PendingCall): boolean {
    clearTimeout(call.timer);
    if (this.#byId.get(call.request.id) !== call) return false;
    return this.#byId.delete(call.request.id);
  }

  all(): PendingCall[] {
    return [...this.#byId.values()];
  }
}

/** Requests that a server says nothing about before their responses, or names when it does. */
const SILENT: ReadonlySet<string> = new Set([
  "initialize",
  "server/discover",
  "subscriptions/listen",
]);
