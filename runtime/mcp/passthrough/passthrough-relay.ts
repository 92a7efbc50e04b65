import { sseMessage } from "../../http/body/sse.ts";
import type { Exchange } from "../../http/exchange.ts";
import { headerValue } from "../../http/headers/header-list.ts";
import type {
  UpstreamFailure,
  UpstreamHandler,
  UpstreamRequest,
} from "../../http/upstream/upstream.ts";
import { rpcError } from "../protocol/rpc-response.ts";
import type { ListFilter } from "../rules/list-filter.ts";
import { failureResponse, recordFailure, respondFailure } from "../session/failure-response.ts";
import { type Received, type ResponseReader, readResponse } from "../transports/response-reader.ts";
import type { StreamableHttpTarget } from "../transports/target.ts";
import { headersForClient } from "../transports/upstream-headers.ts";

/** How a response is passed on. */
export interface PassthroughRelayOptions {
  /** The id of the request (JSON text), when one waits for a response. */
  readonly requestId: string | undefined;
  /** Undefined: the response passes unread. */
  readonly filter: ListFilter | undefined;
  /** The most bytes of one message that is read. */
  readonly limit: number;
  /** Takes the target's session id and gives the client's; undefined: this request opens no session. */
  readonly onSession: ((targetId: string) => string) | undefined;
  /** Called when the target has ended its session (2xx), or says that it is no more (404, 410). */
  readonly onEnded: (() => void) | undefined;
}

/** Passes one response of the only target on to the client. */
export class PassthroughRelay implements UpstreamHandler {
  readonly #exchange: Exchange;
  readonly #target: StreamableHttpTarget;
  readonly #options: PassthroughRelayOptions;
  #request: UpstreamRequest | undefined;
  /** Set while the response is read. */
  #reader: ResponseReader | undefined;
  #status = 0;
  #headers: string[] = [];
  #isStream = false;
  /** The target numbers its events: a client that loses the stream asks for the rest. */
  #isResumable = false;
  #stopWaiting: (() => void) | undefined;

  constructor(exchange: Exchange, target: StreamableHttpTarget, options: PassthroughRelayOptions) {
    this.#exchange = exchange;
    this.#target = target;
    this.#options = options;
  }

  start(send: (handler: UpstreamHandler) => UpstreamRequest): void {
    this.#exchange.record.upstream = this.#target.upstream.name;
    this.#request = send(this);
    this.#stopWaiting = this.#exchange.gateway.onDrainDeadline(() => this.#drain());
    this.#exchange.onAbort(() => {
      this.#stopWaiting?.();
      this.#request?.abort();
    });
  }

  onHead(status: number, headers: readonly string[]): void {
    const { filter, limit, onSession, onEnded } = this.#options;
    const isTaken = status >= 200 && status < 300;
    if (isTaken || status === 404 || status === 410) onEnded?.();
    this.#status = status;
    this.#headers = headersForClient(headers, this.#target.credentials);
    const opened = onSession && headerValue(headers, "mcp-session-id");
    if (opened !== undefined) this.#headers.push("mcp-session-id", onSession?.(opened) ?? "");
    const type = headerValue(headers, "content-type") ?? "";
    this.#isStream = type.toLowerCase().startsWith("text/event-stream");
    // Anything but success is an error that lists nothing: it passes as it is.
    if (filter !== undefined && isTaken) {
      if (status === 202 || status === 204) {
        // A body is not expected here and does not pass unread.
        this.#exchange.respond(status, this.#headers);
        return;
      }
      this.#reader = readResponse(headers, limit, this.#exchange.newBuffer());
      if (this.#reader === undefined) {
        this.#fail("a response that can't be read");
        return;
      }
    }
    if (this.#reader?.kind !== "json") this.#writeHead(headers);
  }

  onData(chunk: Buffer): boolean {
    if (this.#reader !== undefined) return this.#pass(this.#reader.push(chunk));
    if (this.#isStream && !this.#isResumable) this.#isResumable = chunk.includes("id:");
    return this.#write(chunk);
  }

  onEnd(): void {
    this.#stopWaiting?.();
    if (this.#reader !== undefined) this.#pass(this.#reader.end());
    this.#exchange.end();
  }

  onError(failure: UpstreamFailure): void {
    this.#stopWaiting?.();
    const exchange = this.#exchange;
    if (!exchange.headersSent) {
      respondFailure(exchange, this.#options.requestId ?? "null", failure);
      return;
    }
    recordFailure(exchange, failure.detail);
    exchange.record.reason = "UpstreamFailure";
    // A numbered stream is resumed by the client, and half a JSON text has no honest end.
    if (this.#isStream && !this.#isResumable) this.#endStream(failureResponse("closed").message);
    else exchange.abort();
  }

  #writeHead(headers: readonly string[]): void {
    const exchange = this.#exchange;
    const length = this.#reader === undefined ? headerValue(headers, "content-length") : undefined;
    exchange.writeHead(
      this.#status,
      this.#headers,
      length === undefined ? undefined : Number(length),
    );
  }

  /** Sends on what was read, less what is hidden. */
  #pass(received: readonly Received[] | undefined): boolean {
    if (received === undefined) {
      this.#fail("a response that can't be read");
      return true;
    }
    let isTaken = true;
    for (const { message, event } of received) {
      const shown = message && this.#options.filter?.(message);
      if (message !== undefined && shown === undefined) {
        this.#fail("a result with a repeated key");
        return true;
      }
      if (event === undefined) this.#exchange.respond(this.#status, this.#headers, shown);
      else if (shown === message?.text) isTaken = this.#write(event.raw);
      else isTaken = this.#write(sseMessage(shown ?? "", fieldsOf(event)));
      if (event?.id !== undefined) this.#isResumable = true;
    }
    return isTaken;
  }

  #write(chunk: string | Buffer): boolean {
    if (this.#exchange.write(chunk)) return true;
    this.#exchange.onDrain(() => this.#request?.resume());
    return false;
  }

  #drain(): void {
    this.#request?.abort();
    if (!this.#exchange.headersSent) {
      const id = this.#options.requestId ?? "null";
      respondFailure(this.#exchange, id, { kind: "draining", detail: "drained" });
    } else if (this.#isStream) {
      this.#endStream(failureResponse("draining").message);
    } else {
      this.#exchange.abort();
    }
  }

  /** The target's response is unfit to be shown. */
  #fail(detail: string): void {
    this.#stopWaiting?.();
    this.#request?.abort();
    const exchange = this.#exchange;
    if (exchange.headersSent) {
      recordFailure(exchange, detail);
      this.#endStream(failureResponse("protocol").message);
    } else {
      const id = this.#options.requestId ?? "null";
      respondFailure(exchange, id, { kind: "protocol", detail });
    }
  }

  /** Ends an event stream so that the client knows that its request got no response. */
  #endStream(message: string): void {
    const { requestId } = this.#options;
    if (requestId !== undefined) {
      // An event that broke off in the middle ends first.
      this.#exchange.write(`\n\n${sseMessage(rpcError(requestId, -32603, message))}`);
    }
    this.#exchange.end();
  }
}

function fieldsOf(event: NonNullable<Received["event"]>): string {
  const id = event.id === undefined ? "" : `id: ${event.id}\n`;
  return event.retry === undefined ? id : `${id}retry: ${event.retry}\n`;
}
