import { CountedBuffer } from "../../http/body/counted-buffer.ts";
import type { Exchange } from "../../http/exchange.ts";
import { headerLines, headerValue } from "../../http/headers/header-list.ts";
import type {
  UpstreamFailure,
  UpstreamHandler,
  UpstreamRequest,
} from "../../http/upstream/upstream.ts";
import { type Message, textAt, withId } from "../protocol/message.ts";
import { readFields } from "../protocol/message-fields.ts";
import type { TargetFailure } from "../protocol/target-failure.ts";
import { type Received, type ResponseReader, readResponse } from "./response-reader.ts";
import type { Call, CallSink } from "./target.ts";

/** Sends messages to a streamable HTTP target. */
export interface CallSender {
  /** Maximum number of bytes of one message from the target. */
  readonly limit: number;
  /** Sends the message. */
  send(message: Message, handler: UpstreamHandler): UpstreamRequest;
  /**
   * Requests the events after an event. Absent if the target does not close streams early for polling (SEP-1699, revision
   * 2025-11-25).
   */
  readonly askForRest?: (lastEventId: string, handler: UpstreamHandler) => UpstreamRequest;
  /** Takes the head of a response. Returns the kind of failure if there is nothing to read. */
  onHead(
    method: string,
    status: number,
    headers: readonly string[],
  ): TargetFailure["kind"] | undefined;
}

/** Milliseconds before reconnecting to a stream that the server closed, unless the server names a time. */
const DEFAULT_RETRY = 1000;

/** One message to a streamable HTTP target and its response. */
export class HttpCall implements UpstreamHandler, Call {
  readonly #exchange: Exchange;
  readonly #sender: CallSender;
  readonly #sink: CallSink;
  /** The sent message without its params, so that they are not held in memory while a slow target responds. */
  #id = "";
  #method = "";
  /** A message that has no response; `undefined` if a request was sent. */
  #oneWay: Message | undefined;
  #request: UpstreamRequest | undefined;
  #reader: ResponseReader | undefined;
  /** Not owned by the exchange: a call may continue after its client got a question as the response. */
  #held: CountedBuffer | undefined;
  #lastEventId: string | undefined;
  #retry = DEFAULT_RETRY;
  /** The refusal whose body is being read. */
  #refusal: TargetFailure | undefined;
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

  /** Ends the call and closes its connection at once. */
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
      this.#refused({ kind: failure, detail: `answered with ${status}`, status }, headers);
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
      if (this.#refusal !== undefined) {
        this.#fail(this.#refusal);
        return;
      }
      this.#isOver = true;
      this.#sink.onResponse(this.#oneWay);
      return;
    }
    if (this.#reader !== undefined) this.#take(this.#reader.end());
    if (this.#isOver) return;
    if (this.#refusal !== undefined) {
      this.#fail(this.#refusal);
      return;
    }
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
    this.#fail(this.#refusal ?? failure);
  }

  /** Fails with the status of a refusal, and with the JSON-RPC error in its body. */
  #refused(refusal: TargetFailure, headers: readonly string[]): void {
    const named = { ...refusal, headers: headersOfRefusal(headers) };
    const type = headerValue(headers, "content-type");
    if (refusal.kind !== "status" || !/^application\/json\b/i.test(type ?? "")) {
      this.#fail(named);
      return;
    }
    this.#refusal = named;
    this.#held = new CountedBuffer(this.#exchange.gateway.buffers);
    this.#reader = readResponse(headers, this.#sender.limit, this.#held);
  }

  #take(received: readonly Received[] | undefined): boolean {
    if (received === undefined) {
      const invalid = { kind: "protocol", detail: "answered with an invalid message" } as const;
      this.#fail(this.#refusal ?? invalid);
      return true;
    }
    let isTaken = true;
    for (const { message, event } of received) {
      if (this.#isOver) return true;
      if (event?.id !== undefined) this.#lastEventId = event.id;
      if (event?.retry !== undefined) this.#retry = Number(event.retry) || DEFAULT_RETRY;
      if (message === undefined) continue;
      if (this.#refusal !== undefined) this.#fail({ ...this.#refusal, ...errorOf(message) });
      else if (message.kind === "response") this.#settle(message);
      else isTaken = this.#sink.onMessage(message) && isTaken;
    }
    return isTaken;
  }

  /** Delivers the response. It is the last message on its stream; a stream that the server keeps open is aborted. */
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

/** Returns the headers that tell the client how to continue. */
function headersOfRefusal(headers: readonly string[]): readonly string[] {
  return ["retry-after", "www-authenticate"].flatMap((name) =>
    headerLines(headers, name).flatMap((value) => [name, value]),
  );
}

const ERROR: ReadonlySet<string> = new Set(["error"]);

/** Returns the error of a response; nothing if it is ambiguous or no error. */
export function errorOf({ text, result }: Message): Pick<TargetFailure, "error"> {
  const fields = result === undefined ? readFields(text, 0, ERROR) : "no error";
  const at = typeof fields === "string" ? undefined : fields.get("error");
  return at === undefined ? {} : { error: textAt(text, at) };
}
