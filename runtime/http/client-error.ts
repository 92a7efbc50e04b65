import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/** Milliseconds that a refused client gets to read its answer while the rest of what it sends is dropped. */
const lingerTime = 500;

/**
 * Answers what node's parser refused and closes the connection. When an answer is already on its way, or nothing can
 * be answered (a reset, a failed TLS handshake), the connection is just broken off. True when it was answered.
 */
export function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): boolean {
  const code = error.code ?? "";
  if (!code.startsWith("HPE_") && code !== "ERR_HTTP_REQUEST_TIMEOUT") {
    socket.destroy();
    return false;
  }
  // Each further piece of the same malformed request fails again.
  if (socket.writableEnded) return false;
  if (!socket.writable || isAnswering(socket)) {
    socket.destroy();
    return false;
  }
  closeWith(socket, clientErrorStatus[code] ?? "400 Bad Request");
  return true;
}

/** Answers a connection that no exchange can be made of. */
export function closeWith(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
  setTimeout(() => socket.destroy(), lingerTime).unref();
}

const clientErrorStatus: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "413 Content Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

function isAnswering(socket: Duplex): boolean {
  // Node keeps the answer under way here; its own handler of this event decides by it too.
  const { _httpMessage: answer } = socket as Duplex & { _httpMessage?: ServerResponse | null };
  return answer?.headersSent === true;
}
