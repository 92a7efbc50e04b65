import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { GatewayContext } from "../gateway/context.ts";
import type { Exchange, Handled } from "./exchange.ts";
import { NodeExchange } from "./node-exchange.ts";
import { refuse } from "./refuse.ts";
import { checkRequest } from "./request-check.ts";

/** What a server does with requests. */
export interface ServerBehaviour {
  /** Routes and answers one request. */
  readonly handle: (exchange: Exchange) => Handled;
  /**
   * Called once when an exchange has ended, after `duration` milliseconds. `status` is undefined when the client left
   * unanswered.
   */
  readonly ended: (exchange: Exchange, status: number | undefined, duration: number) => void;
  /** A handler threw: a bug, or a failure nobody foresaw. */
  readonly failed: (exchange: Exchange, error: unknown) => void;
}

/** A server of one port. `behaviour` may be replaced at any time: the next request gets the new one. */
export class HttpServer {
  behaviour: ServerBehaviour;
  readonly #gateway: GatewayContext;
  readonly #server: Server;

  constructor(behaviour: ServerBehaviour, gateway: GatewayContext) {
    this.behaviour = behaviour;
    this.#gateway = gateway;
    this.#server = createServer(limits, (request, response) =>
      this.#serve(request, response, false),
    );
    // 0: node would drop further headers silently; the request check refuses them instead.
    this.#server.maxHeadersCount = 0;
    this.#server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) =>
      this.#serve(request, response, true),
    );
    this.#server.on("clientError", answerClientError);
  }

  /** Opens the port (0: any free one) on `host`, or on every address. Resolves with the port. */
  listen(port: number, host: string | undefined): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen({ port, host, backlog: 511 }, () => {
        this.#server.off("error", reject);
        // A listening TCP server has an AddressInfo.
        resolve((this.#server.address() as AddressInfo).port);
      });
    });
  }

  /** Takes no more connections and closes the idle ones. Resolves when the last connection has closed. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeIdleConnections();
    });
  }

  /** Breaks every connection off. */
  closeAllConnections(): void {
    this.#server.closeAllConnections();
  }

  #serve(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void {
    const started = performance.now();
    const { behaviour } = this;
    const facts = checkRequest(
      request.method ?? "",
      request.url ?? "",
      request.httpVersion,
      request.rawHeaders,
    );
    const isServed = "host" in facts;
    const exchange = new NodeExchange(
      request,
      response,
      isServed ? facts : malformed,
      this.#gateway,
    );
    response.on("close", () => {
      if (!response.writableFinished) exchange.clientLeft();
      const status = response.headersSent ? response.statusCode : undefined;
      behaviour.ended(exchange, status, performance.now() - started);
    });
    exchange.expectsContinue = expectsContinue;
    if (!isServed) {
      exchange.closesConnection = true;
      refuse(exchange, facts.status, "BadRequest", facts.detail);
      return;
    }
    try {
      const handled = behaviour.handle(exchange);
      if (handled !== undefined) handled.catch((error) => fail(behaviour, exchange, error));
    } catch (error) {
      fail(behaviour, exchange, error);
    }
  }
}

const limits = {
  maxHeaderSize: 65_536,
  headersTimeout: 30_000,
  requestTimeout: 300_000,
  keepAliveTimeout: 600_000,
  requireHostHeader: false,
};

/** Stands for the facts of a request that has none. */
const malformed = { host: "", length: undefined, hasBody: false, namesConnectionHeaders: false };

function fail(behaviour: ServerBehaviour, exchange: NodeExchange, error: unknown): void {
  behaviour.failed(exchange, error);
  if (exchange.isAnswered) exchange.abort();
  else refuse(exchange, 500, "Internal", "internal error");
}

/** Answers what node's parser refused, when nothing else is being answered on the connection, and closes it. */
function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (socket.writableEnded || !socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const status = clientErrorStatus[error.code ?? ""] ?? "400 Bad Request";
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}

const clientErrorStatus: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};
