import { CountedBuffer } from "../../http/body/counted-buffer.ts";
import type { Exchange } from "../../http/exchange.ts";
import type {
  UpstreamFailure,
  UpstreamHandler,
  UpstreamRequest,
} from "../../http/upstream/upstream.ts";
import { type Message, withId } from "../protocol/message.ts";
import type { TargetFailure } from "../protocol/target-failure.ts";
import { type Received, type ResponseReader, readResponse } from "./response-reader.ts";
import type { Call, CallSink } from "./target.ts";

/** How a message reaches a streamable HTTP target. */
export interface CallSender {
  /** The most bytes of one message of the target's. */
  readonly limit: number;
  /** Sends the message. */
  send(message: Message, handler: UpstreamHandler): UpstreamRequest;
  /**
   * Asks for what comes after an event. Absent: the target does not close streams early to be asked for the rest (SEP-1699,
   * revision 2025-11-25).
   */
  readonly askForRest?: (lastEventId: string, handler: UpstreamHandler) => UpstreamRequest;
  /** Takes the head of a response. A string: there is nothing to read, and why. */
  onHead(
    method: string,
    status: number,
    headers: readonly string[],
  ): TargetFailure["kind"] | undefined;
}

/** Milliseconds before a stream that the server closed is asked for the rest, when it names no time itself. */
const DEFAULT_RETRY = 1000;

/** One message to a streamable HTTP target, and what comes back for it. */
export class HttpCall implements UpstreamHandler, Call {
  readonly #exchange: Exchange;
  readonly #sender: CallSender;
  readonly #sink: CallSink;
  /** What was sent, without its params: a target that has it may take long, or wait for the client of another request. */
  #id = "";
  #method = "";
  /** One that has no response; undefined: a request was sent. */
  #oneWay: Message | undefined;
  #request: UpstreamRequest | undefined;
  #reader: ResponseReader | undefined;
  /** Not the exchange's: a call may go on when its client has got a question for a response. */
  #held: CountedBuffer | undefined;
  #lastEventId: string | undefined;
  #retry = DEFAULT_RETRY;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(exchange: Exchange, sender: CallSender, sink: CallSink) {
    this.#exchange = exchange;
    this.#sender = sender;
    this.#sink = sink;
  }

  start(message: Message): void {
    this.#id = message.id;
    this.#method = message.method;
    if (message.kind !== "request") this.#oneWay = message;
    this.#request = this.#sender.send(message, this);
  }

  /** Ends the call: the connection is closed at once. */
  cancel(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#held?.release();
    this.#request?.abort();
  }

  resume(): void {
    this.#request?.resume();
  }

  onHead(status: number, headers: readonly string[]): void {
    const failure = this.#sender.onHead(this.#method, status, headers);
    if (failure !== undefined) {
      this.#fail({ kind: failure, detail: `answered with ${status}`, status });
      return;
    }
    this.#held = new CountedBuffer(this.#exchange.gateway.buffers);
    this.#reader = readResponse(headers, this.#sender.limit, this.#held);
    if (this.#reader === undefined && this.#oneWay === undefined) {
      this.#fail({ kind: "protocol", detail: "answered with neither JSON nor an event stream" });
    }
  }

  onData(chunk: Buffer): boolean {
    if (this.#isOver || this.#reader === undefined) return true;
    return this.#take(this.#reader.push(chunk));
  }

  onEnd(): void {
    clearTimeout(this.#timer);
    if (this.#isOver) return;
    if (this.#oneWay !== undefined) {
      this.#isOver = true;
      this.#sink.onResponse(this.#oneWay);
      return;
    }
    if (this.#reader !== undefined) this.#take(this.#reader.end());
    if (this.#isOver) return;
    const [sender, lastEventId] = [this.#sender, this.#lastEventId];
    if (sender.askForRest !== undefined && lastEventId !== undefined) {
      this.#timer = setTimeout(() => {
        this.#request = sender.askForRest?.(lastEventId, this);
      }, this.#retry);
    } else {
      this.#fail({ kind: "protocol", detail: "ended its stream without a response" });
    }
  }

  onError(failure: UpstreamFailure): void {
    clearTimeout(this.#timer);
    this.#fail(failure);
  }

  #take(received: readonly Received[] | undefined): boolean {
    if (received === undefined) {
      this.#fail({ kind: "protocol", detail: "answered with something that is no message" });
      return true;
    }
    let isTaken = true;
    for (const { message, event } of received) {
      if (this.#isOver) return true;
      if (event?.id !== undefined) this.#lastEventId = event.id;
      if (event?.retry !== undefined) this.#retry = Number(event.retry) || DEFAULT_RETRY;
      if (message === undefined) continue;
      if (message.kind === "response") this.#settle(message);
      else isTaken = this.#sink.onMessage(message) && isTaken;
    }
    return isTaken;
  }

  /** The response is the last thing on its stream; a server that keeps the stream open is not waited for. */
  #settle(response: Message): void {
    this.#isOver = true;
    if (this.#reader?.kind === "sse") {
      this.#timer = setTimeout(() => this.#request?.abort(), DEFAULT_RETRY);
    }
    this.#sink.onResponse(withId(response, this.#id));
  }

  #fail(failure: TargetFailure): void {
    if (this.#isOver) return;
    this.cancel();
    this.#sink.onFailure(failure);
  }
}
