import type { Socket } from "node:net";
import type { Deadlines } from "../../../net/deadlines.ts";
import { FIRST_REQUEST_TIME } from "../../../net/listen-on.ts";
import type { PlainConnection } from "./http1-server-connection.ts";

/** The connection preface of HTTP/2 begins with a method that HTTP/1.1 does not have (RFC 9113 3.4). */
const preface = Buffer.from("PRI ");

/**
 * Waits for the first bytes of a connection and says which HTTP they begin; they stay in the socket. A connection that
 * has said nothing after `timeout` milliseconds, or leaves, is closed. Connections last: nothing of this stays with them.
 */
export function sniffProtocol(
  socket: Socket,
  deadlines: Deadlines<PlainConnection>,
  timeout: number,
  then: (version: "http1" | "http2") => void,
): void {
  let first: Buffer | undefined;
  const leave = () => socket.destroy();
  const silent: PlainConnection & { deadline: number } = {
    socket,
    deadline: deadlines.after(timeout),
    place: 0,
    closeIdle: () => {
      silent.deadline = Math.min(silent.deadline, deadlines.after(FIRST_REQUEST_TIME));
    },
    expire: (tick) => {
      if (socket.destroyed) deadlines.delete(silent);
      else if (tick >= silent.deadline) leave();
    },
  };
  const look = () => {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) return;
    first = first === undefined ? chunk : Buffer.concat([first, chunk]);
    const isHttp2 = preface.subarray(0, first.length).equals(first.subarray(0, preface.length));
    if (isHttp2 && first.length < preface.length) return;
    deadlines.delete(silent);
    socket.off("readable", look);
    socket.off("end", leave);
    socket.unshift(first);
    then(isHttp2 ? "http2" : "http1");
    socket.off("error", leave);
  };
  deadlines.add(silent);
  socket.on("error", leave);
  socket.on("end", leave);
  socket.on("readable", look);
}
