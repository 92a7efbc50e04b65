import type { Socket } from "node:net";

/** The connection preface of HTTP/2 begins with a method that HTTP/1.1 does not have (RFC 9113 3.4). */
const preface = Buffer.from("PRI ");

/**
 * Waits for the first bytes of a connection and says which HTTP they begin; they stay in the socket. A connection that
 * says nothing for `timeout` milliseconds, or leaves, is closed.
 */
export function sniffProtocol(
  socket: Socket,
  timeout: number,
  then: (version: "http1" | "http2") => void,
): void {
  let first: Buffer | undefined;
  const giveUp = () => socket.destroy();
  const look = () => {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) {
      if (socket.readableEnded) giveUp();
      return;
    }
    first = first === undefined ? chunk : Buffer.concat([first, chunk]);
    const isHttp2 = startsLike(first, preface);
    if (isHttp2 && first.length < preface.length) return;
    socket.off("readable", look);
    socket.off("timeout", giveUp);
    socket.off("end", giveUp);
    socket.setTimeout(0);
    socket.unshift(first);
    then(isHttp2 ? "http2" : "http1");
  };
  socket.on("error", giveUp);
  socket.setTimeout(timeout);
  socket.on("timeout", giveUp);
  socket.on("end", giveUp);
  socket.on("readable", look);
}

/** Whether two texts are the same as far as both go. */
function startsLike(bytes: Buffer, text: Buffer): boolean {
  const length = Math.min(bytes.length, text.length);
  return bytes.compare(text, 0, length, 0, length) === 0;
}
