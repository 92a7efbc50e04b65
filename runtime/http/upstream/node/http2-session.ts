import { type ClientHttp2Session, connect } from "node:http2";
import type { Connect } from "../../../net/connector.ts";
import { oncePodIsGone } from "../../../net/service-endpoints.ts";

/** Destination and settings of a connection. */
export interface Http2Destination {
  readonly origin: string;
  readonly connect: Connect;
  /** Milliseconds to connect, including the server's first frame. */
  readonly connectTimeout: number;
  /** Bytes that the server may send on one stream, and on all streams together, before it has to wait. */
  readonly streamWindow: number;
  readonly connectionWindow: number;
}

/** Opens an HTTP/2 connection; resolves after the server's first frame. */
export function openHttp2Session(destination: Http2Destination): Promise<ClientHttp2Session> {
  const { connect: open, connectTimeout, origin, streamWindow, connectionWindow } = destination;
  return new Promise((resolve, reject) => {
    open((error, socket) => {
      if (socket === null) {
        reject(error ?? new Error("no connection"));
        return;
      }
      const session = connect(origin, {
        createConnection: () => socket,
        settings: { enablePush: false, initialWindowSize: streamWindow },
      });
      const silence = setTimeout(() => {
        session.destroy(new Error(`no HTTP/2 within ${connectTimeout} ms`));
      }, connectTimeout);
      // Streams in flight continue.
      oncePodIsGone(socket, () => session.close());
      session.on("error", reject);
      session.on("close", () => {
        clearTimeout(silence);
        reject(new Error("the server closed the connection"));
      });
      session.on("connect", () => session.setLocalWindowSize(connectionWindow));
      // RFC 9113 3.4: the first frame shows whether the server speaks HTTP/2.
      session.once("remoteSettings", () => {
        clearTimeout(silence);
        resolve(session);
      });
    });
  });
}
