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
  readonly #isRefused: (socket: Socket) => boolean;

  /** `isRefused`: the parser found a mistake on the connection. */
  constructor(isRefused: (socket: Socket) => boolean) {
    this.#isRefused = isRefused;
  }

  /** Calls `serve` when the responses to the requests ahead are out; never when the connection ends with one of them. */
  take(socket: Socket, response: ServerResponse, serve: () => void): void {
    // The connection has had its last response; what comes while it closes would never get one.
    if (socket.writableEnded) return;
    // Node gives the connection to one response after the other.
    if (response.socket !== null) {
      serve();
      return;
    }
    const share = socket.writableHighWaterMark / maxWaiting;
    holdBack(response, share);
    response.once("socket", () => {
      holdBack(response, -share);
      // A mistake in its body came to light meanwhile: the refusal is its response.
      if (response.req.complete || !this.#isRefused(socket)) serve();
    });
  }
}

/**
 * Counts a request that waits as bytes that its response holds back. Node reads no more of a connection, after the piece
 * that it has, once these come to the high-water mark. `socket.pause()` would not do: the parser resumes the socket
 * behind every request.
 */
function holdBack(response: ServerResponse, bytes: number): void {
  const { _onPendingData: count } = response as ServerResponse & {
    _onPendingData: (bytes: number) => void;
  };
  count(bytes);
}

/** The response that the connection belongs to now. */
export function responseInProgress(socket: Duplex): ServerResponse | undefined {
  // Node keeps it here; its own handling of errors decides by it too.
  const { _httpMessage: response } = socket as Duplex & { _httpMessage?: ServerResponse | null };
  return response ?? undefined;
}

/** Calls `then` when the responses to all whole requests are out; never when the connection breaks before. */
export function afterResponses(socket: Duplex, then: () => void): void {
  const response = responseInProgress(socket);
  if (response?.req.complete !== true) then();
  else response.once("close", () => afterResponses(socket, then));
}
