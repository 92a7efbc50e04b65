import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer, type Server as TlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { SecureContext } from "node:tls";
import type { GatewayContext } from "../gateway/context.ts";
import type { Certificates } from "./certificates.ts";
import { answerClientError, closeWith } from "./client-error.ts";
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
  /** A client sent what the parser refused: there is no exchange to tell of. */
  readonly malformed: () => void;
  /** Something the operator should know: a certificate that can't be used. */
  readonly warn: (message: string) => void;
}

/** A server of one port. `behaviour` may be replaced at any time: the next request gets the new one. */
export class HttpServer {
  behaviour: ServerBehaviour;
  readonly #gateway: GatewayContext;
  readonly #server: Server | TlsServer;
  #certificates: Certificates | undefined;
  #isClosing = false;

  /** With certificates the port speaks TLS, which can't be changed later; the certificates can. */
  constructor(
    behaviour: ServerBehaviour,
    gateway: GatewayContext,
    certificates: Certificates | undefined,
  ) {
    this.behaviour = behaviour;
    this.#gateway = gateway;
    const serve = (request: IncomingMessage, response: ServerResponse) =>
      this.#serve(request, response, false);
    this.#server =
      certificates === undefined
        ? createServer(limits, serve)
        : createTlsServer({ ...limits, ...this.#tlsOptions() }, serve);
    if (certificates !== undefined) this.useCertificates(certificates);
    // 0: node would drop further headers silently; the request check refuses them instead.
    this.#server.maxHeadersCount = 0;
    this.#server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) =>
      this.#serve(request, response, true),
    );
    // Node keeps a peer's address once it was asked for: a client that has left still has one in the log.
    this.#server.on(certificates === undefined ? "connection" : "secureConnection", (socket) => {
      void socket.remoteAddress;
    });
    // A forward proxy's method (RFC 9110 9.3.6): this is none.
    this.#server.on("connect", (_request, socket) => closeWith(socket, "400 Bad Request"));
    this.#server.on("clientError", (error, socket) => {
      if (answerClientError(error, socket)) this.behaviour.malformed();
    });
  }

  get isTls(): boolean {
    return this.#certificates !== undefined;
  }

  /** New connections get these certificates; the ones before are no longer watched. */
  useCertificates(certificates: Certificates): void {
    this.#certificates?.close();
    this.#certificates = certificates;
    const useFirst = () => {
      if ("setSecureContext" in this.#server)
        this.#server.setSecureContext({ ...certificates.first });
    };
    useFirst();
    certificates.watch(useFirst, this.behaviour.warn);
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

  /**
   * Takes no more connections and closes the others as soon as they are idle. Resolves when the last one has closed.
   */
  close(): Promise<void> {
    this.#isClosing = true;
    this.#certificates?.close();
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeIdleConnections();
    });
  }

  /** Breaks every connection off. */
  closeAllConnections(): void {
    this.#server.closeAllConnections();
  }

  #tlsOptions() {
    return {
      handshakeTimeout: 15_000,
      SNICallback: (
        name: string,
        done: (error: Error | null, context?: SecureContext) => void,
      ): void => done(null, this.#certificates?.contextFor(name)),
    };
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
      if (this.#isClosing) this.#server.closeIdleConnections();
    });
    exchange.expectsContinue = expectsContinue;
    if (!isServed) {
      exchange.closesConnection = true;
      refuse(exchange, facts.status, "BadRequest", facts.detail);
      return;
    }
    if (exchange.target === "*") {
      // OPTIONS of the server itself (RFC 9110 9.3.7): no route is asked, and there is nothing to say.
      exchange.respond(204, []);
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

/** Node's limits of one connection; times in milliseconds. */
const limits = {
  maxHeaderSize: 65_536,
  headersTimeout: 30_000,
  requestTimeout: 300_000,
  keepAliveTimeout: 600_000,
  // The request check does it, so that the refusal is logged and counted like any other.
  requireHostHeader: false,
  // A request without a body needs no stream events.
  optimizeEmptyRequests: true,
};

/** Stands for the facts of a request that has none. */
const malformed = { host: "", length: undefined, hasBody: false, namesConnectionHeaders: false };

function fail(behaviour: ServerBehaviour, exchange: NodeExchange, error: unknown): void {
  behaviour.failed(exchange, error);
  if (!exchange.isAnswered) {
    refuse(exchange, 500, "Internal", "internal error");
    return;
  }
  exchange.record.reason = "Internal";
  exchange.abort();
}
