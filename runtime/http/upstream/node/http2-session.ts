import { type ClientHttp2Session, connect } from "node:http2";
import type { Connect } from "../../../net/connector.ts";
import { oncePodIsGone } from "../../../net/service-endpoints.ts";

/** How a connection is opened. */
export interface Http2Destination {
  readonly origin: string;
  readonly connect: Connect;
  /** Milliseconds until a connection is there, with the first word of its server. */
  readonly connectTimeout: number;
  /** Bytes that the server may send on one stream, and on all together, before it has to wait. */
  readonly streamWindow: number;
  readonly connectionWindow: number;
}

/** Opens a connection of HTTP/2; it is there when its server has said the first that one says. */
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
      // The streams under way go on.
      oncePodIsGone(socket, () => session.close());
      session.on("error", reject);
      session.on("close", () => {
        clearTimeout(silence);
        reject(new Error("the server closed the connection"));
      });
      session.on("connect", () => session.setLocalWindowSize(connectionWindow));
      // RFC 9113 3.4: a server of another protocol is found out here.
      session.once("remoteSettings", () => {
        clearTimeout(silence);
        resolve(session);
      });
    });
  });
}
