import type { Message } from "../protocol/message.ts";
import { progressTokenOf } from "../protocol/progress-token.ts";
import type { CallSink } from "./target.ts";

/** A request that waits for its response on a shared connection. */
export interface PendingCall {
  readonly request: Message;
  readonly sink: CallSink;
  /** Its `_meta.progressToken` as JSON text; `undefined` if it has none. */
  readonly progressToken: string | undefined;
  readonly timer: NodeJS.Timeout;
  /** Whether the connection is paused because the client reads slowly. */
  isPaused: boolean;
}

/** The requests in flight on one connection, by id. */
export class PendingCalls {
  readonly #byId = new Map<string, PendingCall>();
  readonly #deadline: number;
  readonly #onDeadline: (call: PendingCall) => void;

  /** `deadline`: maximum milliseconds without any message. */
  constructor(deadline: number, onDeadline: (call: PendingCall) => void) {
    this.#deadline = deadline;
    this.#onDeadline = onDeadline;
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Returns `undefined` if a request with this id is in flight. */
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

  /** Returns the call with the id of a response. */
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

  /** Returns the calls that the server's messages may be about, oldest first. */
  candidates(): PendingCall[] {
    return [...this.#byId.values()].filter(({ request }) => !SILENT.has(request.method));
  }

  /** Restarts the deadline. */
  restart(call: PendingCall): void {
    call.timer.refresh();
  }

  /** Returns false if the call was already removed. */
  remove(call: PendingCall): boolean {
    clearTimeout(call.timer);
    if (this.#byId.get(call.request.id) !== call) return false;
    return this.#byId.delete(call.request.id);
  }

  all(): PendingCall[] {
    return [...this.#byId.values()];
  }
}

/** Requests that a server sends no messages about before the response, or only messages that name the request. */
const SILENT: ReadonlySet<string> = new Set([
  "initialize",
  "server/discover",
  "subscriptions/listen",
]);
