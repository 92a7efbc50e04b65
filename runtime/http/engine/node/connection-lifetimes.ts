import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * Ends HTTP/1.1 connections that have lasted as long as they may: one without a request at once, others with the response
 * under way. Who has left HTTP (a tunnel) stays.
 */
export class ConnectionLifetimes {
  readonly #timers: WeakMap<Socket, NodeJS.Timeout> = new WeakMap();
  readonly #old: WeakSet<Socket> = new WeakSet();
  /** The last response that began on a connection and has not ended. */
  readonly #responses: WeakMap<Socket, ServerResponse> = new WeakMap();

  /** False as long as no connection has a longest duration: then nothing is done for their responses. */
  #isUsed = false;

  /** The connection may last `duration` milliseconds. */
  follow(socket: Socket, duration: number): void {
    this.#isUsed = true;
    const timer = setTimeout(() => this.#end(socket), duration);
    this.#timers.set(socket, timer);
    socket.once("close", () => clearTimeout(timer));
  }

  /** A response begins. */
  begin({ socket }: IncomingMessage, response: ServerResponse): void {
    if (!this.#isUsed || !this.#timers.has(socket)) return;
    if (this.#old.has(socket)) response.shouldKeepAlive = false;
    this.#responses.set(socket, response);
    response.once("close", () => {
      if (this.#responses.get(socket) !== response) return;
      this.#responses.delete(socket);
      if (this.#old.has(socket)) socket.end();
    });
  }

  /** The connection has left HTTP. */
  release(socket: Socket): void {
    clearTimeout(this.#timers.get(socket));
  }

  #end(socket: Socket): void {
    this.#old.add(socket);
    const response = this.#responses.get(socket);
    if (response === undefined) socket.end();
    // Node says `Connection: close` by itself, when the head is still to be sent.
    else response.shouldKeepAlive = false;
  }
}
