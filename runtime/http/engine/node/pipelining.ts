import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

/** Requests of one connection that may wait; then nothing more is read from it. */
const maxWaiting = 16;

/**
 * Serves the requests of a connection one after the other. A client may send several without waiting (RFC 9112 9.3.2): a
 * POST and the GET behind it must not change places upstream, and one connection must not make many upstream calls.
 */
export class RequestTurns {
  readonly #waiting: WeakMap<Socket, number> = new WeakMap();
  readonly #isRefused: (socket: Socket) => boolean;

  /** `isRefused`: the parser found a mistake on the connection. */
  constructor(isRefused: (socket: Socket) => boolean) {
    this.#isRefused = isRefused;
  }

  /** Calls `serve` when the answers to the requests ahead are out; never when the connection ends with one of them. */
  take(socket: Socket, answer: ServerResponse, serve: () => void): void {
    // The connection has had its last answer; what comes while it closes would never get one.
    if (socket.writableEnded) return;
    // Node gives the connection to one answer after the other.
    if (answer.socket !== null) {
      serve();
      return;
    }
    this.#count(socket, 1);
    answer.once("socket", () => {
      this.#count(socket, -1);
      // A mistake in its body came to light meanwhile: the refusal is its answer.
      if (answer.req.complete || !this.#isRefused(socket)) serve();
    });
  }

  #count(socket: Socket, change: number): void {
    const count = (this.#waiting.get(socket) ?? 0) + change;
    this.#waiting.set(socket, count);
    if (count >= maxWaiting) socket.pause();
    else if (count === 0 && socket.isPaused()) socket.resume();
  }
}

/** The answer that the connection belongs to now. */
export function answerUnderWay(socket: Duplex): ServerResponse | undefined {
  // Node keeps it here; its own handling of errors decides by it too.
  const { _httpMessage: answer } = socket as Duplex & { _httpMessage?: ServerResponse | null };
  return answer ?? undefined;
}

/** Calls `then` when the answers to all whole requests are out; never when the connection breaks before. */
export function afterAnswers(socket: Duplex, then: () => void): void {
  const answer = answerUnderWay(socket);
  if (answer?.req.complete !== true) then();
  else answer.once("close", () => afterAnswers(socket, then));
}
