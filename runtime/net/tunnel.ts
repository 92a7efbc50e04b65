import { afterRunning } from "../time/deadlines.ts";
import type { Connect, OpenTunnel } from "./connector.ts";

/** A proxy refused to open a tunnel. */
export class TunnelRefusal extends Error {}

/** A connection to a proxy. */
type ProxySocket = NonNullable<Parameters<Parameters<Connect>[0]>[1]>;

/** Maximum length of the head of a proxy's response. */
const MAX_HEAD = 16_384;

/**
 * Returns the function that opens tunnels through a proxy (CONNECT, RFC 9110 9.3.6). `connect` connects to the proxy, `name` is
 * its name in logs; `timeout`: milliseconds to its response; `authorization`: value of Proxy-Authorization, if any.
 */
export function tunnelsThrough(
  name: string,
  connect: Connect,
  timeout: number,
  authorization: () => string | undefined,
): OpenTunnel {
  return (authority, done) => {
    connect((error, socket) => {
      if (socket === null) {
        done(new Error(`proxy ${name}: ${error?.message}`), null);
        return;
      }
      const shown = authorization();
      const head = connectHead(authority, shown);
      askForTunnel(socket, head, timeout, (why) => {
        if (why === null) {
          done(null, socket);
          return;
        }
        socket.destroy();
        done(new TunnelRefusal(`proxy ${name}: ${why}`), null);
      });
    });
  };
}

/** Formats the request for a tunnel. A credential that does not fit into a header is left out. */
function connectHead(authority: string, authorization: string | undefined): string {
  const line = `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n`;
  const isSendable = authorization !== undefined && /^[\x20-\x7e]+$/.test(authorization);
  return `${line}${isSendable ? `Proxy-Authorization: ${authorization}\r\n` : ""}\r\n`;
}

/** Calls `done` once: with null if the socket is the tunnel, otherwise with why it is not. */
function askForTunnel(
  socket: ProxySocket,
  request: string,
  timeout: number,
  done: (why: string | null) => void,
): void {
  let head = Buffer.alloc(0);
  const finish = (why: string | null) => {
    cancelTimeout();
    socket.off("readable", read);
    socket.off("close", onClose);
    socket.off("error", onError);
    // The reader of the tunnel must start after the stream has dropped this reader.
    if (why === null) setImmediate(() => done(null));
    else done(why);
  };
  const read = () => {
    const piece: Buffer | null = socket.read();
    if (piece === null) return;
    head = Buffer.concat([head, piece]);
    const end = head.indexOf("\r\n\r\n");
    if (end < 0) {
      if (head.length > MAX_HEAD) finish("response head over the size limit");
      return;
    }
    const [, status] =
      /^HTTP\/1\.[01] ([0-9]{3})(?: |\r|$)/.exec(head.toString("latin1", 0, 32)) ?? [];
    if (status?.startsWith("2") !== true) {
      finish(status === undefined ? "response is not HTTP/1.1" : `status ${status} for CONNECT`);
      return;
    }
    const rest = head.subarray(end + 4);
    if (rest.length > 0) socket.unshift(rest);
    finish(null);
  };
  const onClose = () => finish("connection closed");
  const onError = (error: Error) => finish(error.message);
  const cancelTimeout = afterRunning(timeout, () => finish(`no response within ${timeout} ms`));
  socket.on("readable", read);
  socket.on("close", onClose);
  socket.on("error", onError);
  socket.write(request);
}
