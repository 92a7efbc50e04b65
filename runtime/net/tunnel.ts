import type { Connect, OpenTunnel } from "./connector.ts";

/** A proxy that does not open the tunnel that it was asked for. */
export class TunnelRefusal extends Error {}

/** A connection to a proxy. */
type ProxySocket = NonNullable<Parameters<Parameters<Connect>[0]>[1]>;

/** The longest head of a proxy's response. */
const MAX_HEAD = 16_384;

/**
 * Makes the function that opens tunnels through a proxy (CONNECT, RFC 9110 9.3.6). `connect` leads to the proxy, `name` is
 * what logs call it; `timeout`: milliseconds to its response; `authorization`: what it is shown in Proxy-Authorization, if
 * anything.
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

/** The request for a tunnel; what would not arrive as it is in a header is not sent. */
function connectHead(authority: string, authorization: string | undefined): string {
  const line = `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n`;
  const isSendable = authorization !== undefined && /^[\x20-\x7e]+$/.test(authorization);
  return `${line}${isSendable ? `Proxy-Authorization: ${authorization}\r\n` : ""}\r\n`;
}

/** `done` is called once: with null when the socket is the tunnel, else with why it is none. */
function askForTunnel(
  socket: ProxySocket,
  request: string,
  timeout: number,
  done: (why: string | null) => void,
): void {
  let head = Buffer.alloc(0);
  const finish = (why: string | null) => {
    clearTimeout(timer);
    socket.off("readable", read);
    socket.off("close", onClose);
    socket.off("error", onError);
    // Who reads the tunnel begins when the stream has forgotten this reader.
    if (why === null) setImmediate(() => done(null));
    else done(why);
  };
  const read = () => {
    const piece: Buffer | null = socket.read();
    if (piece === null) return;
    head = Buffer.concat([head, piece]);
    const end = head.indexOf("\r\n\r\n");
    if (end < 0) {
      if (head.length > MAX_HEAD) finish("a response without end");
      return;
    }
    const [, status] =
      /^HTTP\/1\.[01] ([0-9]{3})(?: |\r|$)/.exec(head.toString("latin1", 0, 32)) ?? [];
    if (status?.startsWith("2") !== true) {
      finish(status === undefined ? "no response of HTTP/1.1" : `it answers ${status} to CONNECT`);
      return;
    }
    const rest = head.subarray(end + 4);
    if (rest.length > 0) socket.unshift(rest);
    finish(null);
  };
  const onClose = () => finish("it closed the connection");
  const onError = (error: Error) => finish(error.message);
  const timer = setTimeout(() => finish(`no response within ${timeout} ms`), timeout);
  socket.on("readable", read);
  socket.on("close", onClose);
  socket.on("error", onError);
  socket.write(request);
}
