import type { Socket } from "node:net";

/** What connections may do before somebody says that they are known. */
export interface UnknownConnectionSettings {
  /** At a time; when there are more, the oldest is ended. */
  readonly most: number;
  /** Milliseconds that each has to become known. */
  readonly time: number;
}

/** Ends connections whose caller does not become known. */
export class UnknownConnections {
  readonly #settings: UnknownConnectionSettings;
  /** By the address and port of the other end, oldest first: within TLS the socket is another object. */
  readonly #sockets: Map<string, Socket> = new Map();

  constructor(settings: UnknownConnectionSettings) {
    this.#settings = settings;
  }

  /** A connection has come. */
  add(socket: Socket): void {
    const end = endOf(socket);
    this.#sockets.set(end, socket);
    const timer = setTimeout(() => this.#drop(end), this.#settings.time);
    socket.once("close", () => {
      clearTimeout(timer);
      if (this.#sockets.get(end) === socket) this.#sockets.delete(end);
    });
    const [oldest] = this.#sockets.keys();
    if (oldest !== undefined && this.#sockets.size > this.#settings.most) this.#drop(oldest);
  }

  /** The caller at the other end is known: its connection stays. */
  know(socket: Pick<Socket, "remoteAddress" | "remotePort">): void {
    this.#sockets.delete(endOf(socket));
  }

  #drop(end: string): void {
    this.#sockets.get(end)?.destroy();
    this.#sockets.delete(end);
  }
}

function endOf({
  remoteAddress,
  remotePort,
}: Pick<Socket, "remoteAddress" | "remotePort">): string {
  return `${remoteAddress} ${remotePort}`;
}
