import { type ClientRequest, type IncomingMessage, request } from "node:http";
import type { Socket } from "node:net";
import type { Connect } from "../../../net/connector.ts";
import type {
  UpgradeHandler,
  UpstreamCall,
  UpstreamFailure,
  UpstreamRequest,
  UpstreamTunnel,
} from "../upstream.ts";
import {
  connectFailure,
  interimFlood,
  invalidStatus,
  maxInterimResponses,
  maxStatus,
  requestTimedOut,
} from "../upstream-failures.ts";

/** How a request for another protocol is sent. */
export interface UpgradeOptions {
  readonly connect: Connect;
  /** Milliseconds to the head of the response; undefined: no limit. */
  readonly requestTimeout: number | undefined;
}

/**
 * Asks an upstream for another protocol, on a connection of its own: it could not go back to a pool. undici's own way
 * would hide a response other than 101, which is the client's to see.
 */
export function sendUpgrade(
  call: UpstreamCall,
  protocol: string,
  handler: UpgradeHandler,
  options: UpgradeOptions,
): UpstreamRequest {
  return new UpgradeRequest(call, protocol, handler, options);
}

class UpgradeRequest implements UpstreamRequest {
  readonly #handler: UpgradeHandler;
  readonly #request: ClientRequest;
  readonly #timer: NodeJS.Timeout | undefined;
  #source: IncomingMessage | Socket | undefined;
  #isConnected = false;
  #isOver = false;

  constructor(
    { method, path, headers }: UpstreamCall,
    protocol: string,
    handler: UpgradeHandler,
    { connect, requestTimeout }: UpgradeOptions,
  ) {
    this.#handler = handler;
    this.#request = request({
      method,
      path,
      headers: [...headers, "connection", "Upgrade", "upgrade", protocol],
      setHost: false,
      maxHeaderSize: 65_536,
      createConnection: (_options, done) => {
        connect((error, socket) => {
          this.#isConnected = socket !== null;
          if (this.#isOver) socket?.destroy();
          else if (socket === null) this.#fail(error ?? new Error("no connection"));
          else done(null, socket);
        });
        return undefined;
      },
    });
    if (requestTimeout !== undefined) {
      this.#timer = setTimeout(() => {
        this.#over(requestTimedOut);
      }, requestTimeout);
    }
    let interimResponses = 0;
    this.#request.on("information", () => {
      interimResponses += 1;
      if (interimResponses > maxInterimResponses) this.#over(interimFlood);
    });
    this.#request.on("response", (response) => this.#responded(response));
    this.#request.on("upgrade", (response, socket, head) =>
      this.#switched(response, socket as Socket, head),
    );
    this.#request.on("error", (error) => this.#fail(error));
    this.#request.end();
  }

  abort(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#request.destroy();
    this.#source?.destroy();
  }

  resume(): void {
    this.#source?.resume();
  }

  #responded(response: IncomingMessage): void {
    if (this.#isOver) return;
    const { statusCode = 502 } = response;
    if (statusCode > maxStatus) {
      this.#over(invalidStatus);
      return;
    }
    clearTimeout(this.#timer);
    this.#handler.onHead(statusCode, response.rawHeaders);
    this.#pass(response);
  }

  #switched(response: IncomingMessage, socket: Socket, head: Buffer): void {
    if (this.#isOver) {
      socket.destroy();
      return;
    }
    clearTimeout(this.#timer);
    const tunnel: UpstreamTunnel = {
      write: (chunk) => socket.write(chunk),
      onDrain: (listener) => socket.on("drain", listener),
      end: () => socket.end(),
    };
    this.#handler.onSwitch(response.rawHeaders, tunnel);
    if (head.length > 0) this.#handler.onData(head);
    this.#pass(socket);
  }

  /** What comes after the head: the body of a response, or bytes of the other protocol. */
  #pass(source: IncomingMessage | Socket): void {
    this.#source = source;
    source.on("data", (chunk: Buffer) => {
      if (!this.#isOver && !this.#handler.onData(chunk)) source.pause();
    });
    source.on("error", (error) => this.#fail(error));
    source.on("end", () => {
      if (this.#isOver) return;
      this.#isOver = true;
      this.#handler.onEnd();
    });
    source.on("close", () => this.#fail(new Error("the connection was closed")));
  }

  #fail(error: Error): void {
    this.#over(
      this.#isConnected ? { kind: "closed", detail: error.message } : connectFailure(error),
    );
  }

  #over(failure: UpstreamFailure): void {
    if (this.#isOver) return;
    this.abort();
    this.#handler.onError(failure);
  }
}
