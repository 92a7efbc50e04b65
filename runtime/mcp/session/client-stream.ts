import { sseMessage } from "../../http/body/sse.ts";
import type { Exchange } from "../../http/exchange.ts";
import { respondRpc } from "../protocol/rpc-response.ts";
import type { TargetFailure } from "../protocol/target-failure.ts";
import { failureResponse, failureText, recordFailure, respondFailure } from "./failure-response.ts";

/** The headers of every event stream of the gateway; they keep proxies from buffering it. */
export const STREAM_HEADERS: readonly string[] = [
  "content-type",
  "text/event-stream",
  "cache-control",
  "no-cache, no-transform",
  "x-accel-buffering",
  "no",
];

/**
 * The response to one request of a client. It is JSON if no message precedes it, else an event stream that ends with it. A
 * slow request becomes a stream too, with comments that keep the connection alive.
 */
export class ClientStream {
  readonly #exchange: Exchange;
  readonly #id: string;
  readonly #timer: NodeJS.Timeout;
  readonly #stopWaiting: () => void;
  #isStream = false;

  /** `id`: the request's, as JSON text. `keepAlive`: milliseconds of silence before a comment. */
  constructor(exchange: Exchange, id: string, keepAlive: number) {
    this.#exchange = exchange;
    this.#id = id;
    this.#timer = setInterval(() => {
      this.#open();
      exchange.write(": keep-alive\n\n");
    }, keepAlive);
    exchange.onAbort(() => this.#stop());
    this.#stopWaiting = exchange.gateway.onDrainDeadline(() => {
      this.fail({ kind: "draining", detail: "drained" });
    });
  }

  /** Sends a message before the response. Returns false if the caller must wait for `onDrain`. */
  message(text: string): boolean {
    this.#open();
    this.#timer.refresh();
    return this.#exchange.write(sseMessage(text));
  }

  onDrain(listener: () => void): void {
    this.#exchange.onDrain(listener);
  }

  /** Sends the response and ends. `status` is used only if no message preceded it. */
  response(text: string, status = 200): void {
    this.#stop();
    if (this.#isStream) {
      this.#exchange.write(sseMessage(text));
      this.#exchange.end();
    } else {
      respondRpc(this.#exchange, status, text);
    }
  }

  /** Responds with the error for a failure. */
  fail(failure: TargetFailure): void {
    this.#stop();
    if (failure.kind === "cancelled") {
      // A cancelled request gets no response: an event stream without events.
      this.#open();
      this.#exchange.end();
      return;
    }
    if (!this.#isStream) {
      respondFailure(this.#exchange, this.#id, failure);
      return;
    }
    recordFailure(this.#exchange, failure.detail);
    this.#exchange.record.reason = failureResponse(failure).reason;
    this.#exchange.write(sseMessage(failureText(this.#id, failure)));
    this.#exchange.end();
  }

  #open(): void {
    if (this.#isStream) return;
    this.#isStream = true;
    this.#exchange.writeHead(200, STREAM_HEADERS);
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#stopWaiting();
  }
}
