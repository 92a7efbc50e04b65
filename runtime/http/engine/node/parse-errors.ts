import type { Duplex } from "node:stream";
import { afterResponses, responseInProgress } from "./pipelining.ts";

/** Milliseconds that a refused client gets to read its response while the rest of what it sends is dropped. */
const lingerTime = 500;

/** Responds to what node's parser refuses. */
export class ParseErrors {
  /** Connections that end with the responses under way. */
  readonly #refused: WeakSet<Duplex> = new WeakSet();

  /** Whether the parser found a mistake on a connection. */
  isRefused(socket: Duplex): boolean {
    return this.#refused.has(socket);
  }

  /**
   * Responds and closes the connection. When the response to the refused request is already on its way, or nothing can be
   * sent (a reset, a failed TLS handshake), the connection is just broken off. True when there was a response.
   */
  respond(error: NodeJS.ErrnoException, socket: Duplex): boolean {
    const code = error.code ?? "";
    if (!code.startsWith("HPE_") && code !== "ERR_HTTP_REQUEST_TIMEOUT") {
      socket.destroy();
      return false;
    }
    // Each further piece of the same malformed request fails again.
    if (socket.writableEnded || this.#refused.has(socket)) return false;
    const underWay = responseInProgress(socket);
    // What is wrong stands behind that request: the refusal must not be taken for its response.
    const isBehind = underWay?.req.complete === true;
    if (!socket.writable || (underWay?.headersSent === true && !isBehind)) {
      socket.destroy();
      return false;
    }
    this.#refused.add(socket);
    const status = clientErrorStatus[code] ?? "400 Bad Request";
    if (isBehind) afterResponses(socket, () => closeWith(socket, status));
    else closeWith(socket, status);
    return true;
  }
}

/** Responds on a connection that no exchange can be made of. */
export function closeWith(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
  setTimeout(() => socket.destroy(), lingerTime).unref();
}

const clientErrorStatus: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "413 Content Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};
