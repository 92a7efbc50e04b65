import { connect, type Socket } from "node:net";
import { atEnd } from "./at-end.ts";
import { eventually } from "./eventually.ts";

/**
 * Sends bytes over connections until one of them is served (has received something, unless told): a gateway that was
 * starved closes connections whose time is over before it reads their requests.
 */
export function servedClient(
  port: number,
  bytes: string,
  isServed: (client: RawClient) => boolean = ({ received }) => received !== "",
): Promise<RawClient> {
  return eventually(async () => {
    const client = new RawClient(port);
    client.send(bytes);
    await eventually(() => client.isClosed || isServed(client) || null, "a response or the end");
    return isServed(client) ? client : null;
  }, "a connection that is served");
}

/** A TCP client that does nothing by itself. */
export class RawClient {
  readonly socket: Socket;
  /** All bytes so far, as Latin-1. */
  received = "";
  /** The other side has said that it sends no more. */
  hasEnded = false;
  isClosed = false;
  /** The code of the error that broke the connection. */
  error: string | undefined;

  /**
   * With `allowHalfOpen` the end of the other side's bytes is not the end of ours. `socket`: a connection that is there
   * already, such as one of TLS.
   */
  constructor(
    port: number,
    { socket, ...options }: { readonly allowHalfOpen?: boolean; readonly socket?: Socket } = {},
  ) {
    this.socket = socket ?? connect({ port, host: "127.0.0.1", ...options });
    this.socket.on("data", (chunk) => {
      this.received += chunk.toString("latin1");
    });
    this.socket.on("end", () => {
      this.hasEnded = true;
    });
    this.socket.on("error", (error: NodeJS.ErrnoException) => {
      this.error = error.code;
    });
    this.socket.on("close", () => {
      this.isClosed = true;
    });
    atEnd(() => this.socket.destroy());
  }

  send(bytes: string | Uint8Array): void {
    if (typeof bytes === "string") this.socket.write(bytes, "latin1");
    else this.socket.write(bytes);
  }

  async receives(wanted: string | RegExp): Promise<void> {
    const isThere = () =>
      typeof wanted === "string" ? this.received.includes(wanted) : wanted.test(this.received);
    await eventually(() => isThere() || null, `${wanted} on the connection`);
  }

  async ends(): Promise<void> {
    await eventually(() => this.hasEnded || this.isClosed || null, "the end of what comes");
  }

  /** Sends until there is nobody to send to: only that shows a client which leaves its own direction open. */
  async isLetGo(): Promise<void> {
    await eventually(() => {
      if (!this.isClosed) this.send("x");
      return this.isClosed || null;
    }, "the refusal of what is sent");
  }

  async closes(): Promise<void> {
    await eventually(() => this.isClosed || null, "the end of the connection");
  }
}
