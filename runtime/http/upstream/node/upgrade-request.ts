import { type ClientRequest, type IncomingMessage, request } from "node:http";
import type { Socket } from "node:net";
import type { Connect } from "../../../net/connector.ts";
import { CountedRequest, type RequestCounts } from "../counted-request.ts";
import type { UpgradeHandler, UpstreamCall, UpstreamRequest, UpstreamTunnel } from "../upstream.ts";
import { connectFailure } from "../upstream-failures.ts";

/** Options of a request for another protocol. */
export interface UpgradeOptions {
  readonly connect: Connect;
  /** Milliseconds to the head of the response; `undefined` for no limit. */
  readonly requestTimeout: number | undefined;
  /** `undefined` if no gateway runs yet. */
  readonly counts: RequestCounts | undefined;
}

/** Requests another protocol from an upstream, on a connection of its own, which cannot return to a pool. */
export function sendUpgrade(
  call: UpstreamCall,
  protocol: string,
  handler: UpgradeHandler,
  options: UpgradeOptions,
): UpstreamRequest {
  return new UpgradeRequest(call, protocol, handler, options);
}

class UpgradeRequest extends CountedRequest<UpgradeHandler> {
  readonly #request: ClientRequest;
  #source: IncomingMessage | Socket | undefined;
  #isConnected = false;

  constructor(
    { method, path, headers }: UpstreamCall,
    protocol: string,
    handler: UpgradeHandler,
    { connect, requestTimeout, counts }: UpgradeOptions,
  ) {
    super(handler, requestTimeout, counts);
    this.#request = request({
      method,
      path,
      headers: [...headers, "connection", "Upgrade", "upgrade", protocol],
      setHost: false,
      maxHeaderSize: 65_536,
      createConnection: (_options, done) => {
        connect((error, socket) => {
          this.#isConnected = socket !== null;
          if (this.isOver) socket?.destroy();
          else if (socket === null) this.#broke(error ?? new Error("no connection"));
          else done(null, socket);
        });
        return undefined;
      },
    });
    this.#request.on("information", () => this.onInterim());
    this.#request.on("response", (response) => this.#responded(response));
    this.#request.on("upgrade", (response, socket, head) =>
      this.#switched(response, socket as Socket, head),
    );
    this.#request.on("error", (error) => this.#broke(error));
    this.#request.end();
  }

  override resume(): void {
    this.#source?.resume();
  }

  protected override breakOff(): void {
    this.#request.destroy();
    this.#source?.destroy();
  }

  #responded(response: IncomingMessage): void {
    if (this.isOver) return;
    this.onHead(response.statusCode ?? 502, response.rawHeaders);
    if (!this.isOver) this.#pass(response);
  }

  #switched(response: IncomingMessage, socket: Socket, head: Buffer): void {
    if (this.isOver) {
      socket.destroy();
      return;
    }
    this.responded(101);
    const tunnel: UpstreamTunnel = {
      write: (chunk) => socket.write(chunk),
      onDrain: (listener) => socket.on("drain", listener),
      end: () => socket.end(),
    };
    this.handler.onSwitch(response.rawHeaders, tunnel);
    if (head.length > 0) this.handler.onData(head);
    this.#pass(socket);
  }

  /** Passes on what follows the head: the body of a response, or bytes of the other protocol. */
  #pass(source: IncomingMessage | Socket): void {
    this.#source = source;
    source.on("data", (chunk: Buffer) => {
      if (!this.isOver && !this.handler.onData(chunk)) source.pause();
    });
    source.on("error", (error) => this.#broke(error));
    source.on("end", () => {
      if (!this.isOver) this.complete();
    });
    source.on("close", () => this.#broke(new Error("the connection was closed")));
  }

  #broke(error: Error): void {
    this.giveUp(
      this.#isConnected
        ? { kind: "closed", detail: error.message }
        : { ...connectFailure(error), unsent: { body: null } },
    );
  }
}
