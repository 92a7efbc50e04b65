import { isCoded } from "../../http/body/content-coding.ts";
import { type Exchange, logFields } from "../../http/exchange.ts";
import { EditedList } from "../../http/headers/header-edits.ts";
import { headerValue } from "../../http/headers/header-list.ts";
import type { ResponseSink } from "../../http/response-sink.ts";
import type { PolicyStreams } from "../../policy/policy.ts";
import { type CustomPolicy, countCall, noteHookFailure, runHook } from "./custom-policy.ts";
import {
  hasNoBody,
  ResponseView,
  refusePromise,
  requirePlain,
  respondInstead,
} from "./custom-response.ts";
import { MadeRefusal } from "./made-refusal.ts";
import { type KnownIdentities, RequestView } from "./request-view.ts";

const HOOK = "responseStream";

/** Passes the body of every later response to the exchange through the streams of a policy's `responseStream` hook. */
export function applyToStream(
  exchange: Exchange,
  policy: CustomPolicy,
  identities?: KnownIdentities,
): void {
  requirePlain(exchange);
  const view = new RequestView(exchange, identities);
  exchange.interceptResponse((next) => new CustomStreamFilter(exchange, next, policy, view));
}

/** Pipes a body through the streams of a hook. If the hook fails before the head is sent, the response is replaced. */
class CustomStreamFilter implements ResponseSink {
  readonly #exchange: Exchange;
  readonly #next: ResponseSink;
  readonly #policy: CustomPolicy;
  readonly #request: RequestView;
  #state: "passing" | "piped" | "replaced" = "passing";
  #writer: WritableStreamDefaultWriter<Uint8Array> | undefined;
  #trailers: readonly string[] | undefined;
  #onDrain: (() => void) | undefined;
  /** Continues reading from the hook once the client takes more. */
  #proceed: (() => void) | undefined;

  constructor(exchange: Exchange, next: ResponseSink, policy: CustomPolicy, request: RequestView) {
    this.#exchange = exchange;
    this.#next = next;
    this.#policy = policy;
    this.#request = request;
    exchange.onAbort(() => void this.#writer?.abort().catch(() => {}));
    next.onDrain(() => {
      if (this.#state === "passing") this.#onDrain?.();
      else this.#proceed?.();
    });
  }

  respond(status: number, headers: readonly string[], body: string | Uint8Array): void {
    this.writeHead(status, headers, Buffer.byteLength(body));
    this.write(body);
    this.end();
  }

  writeHead(status: number, headers: readonly string[], length: number | undefined): void {
    this.#state = "passing";
    if (hasNoBody(this.#exchange, status)) {
      this.#next.writeHead(status, headers, length);
      return;
    }
    const edited = new EditedList(headers, false);
    try {
      const response = new ResponseView(status, edited, this.#request);
      const streams = this.#streams(response, headers);
      if (MadeRefusal.isMade(streams)) {
        this.#state = "replaced";
        respondInstead(this.#exchange, this.#next, this.#policy, HOOK, streams);
        return;
      }
      this.#next.writeHead(
        response.checkedStatus,
        edited.list,
        streams === undefined ? length : undefined,
      );
      if (streams === undefined) countCall(this.#exchange, this.#policy, HOOK, "ok");
      else this.#pipe(streams);
    } catch (error) {
      noteHookFailure(this.#exchange, this.#policy, HOOK, error);
      if (this.#policy.passesOnFailure) this.#next.writeHead(status, headers, length);
      else {
        this.#state = "replaced";
        respondInstead(this.#exchange, this.#next, this.#policy, HOOK);
      }
    }
  }

  write(chunk: string | Uint8Array): boolean {
    if (this.#state === "replaced") return true;
    const writer = this.#writer;
    if (writer === undefined) return this.#next.write(chunk);
    // Copied: the bytes of a connection are only valid during the call.
    writer.write(new Uint8Array(Buffer.from(chunk))).catch(() => {});
    if ((writer.desiredSize ?? 1) > 0) return true;
    writer.ready.then(() => this.#onDrain?.()).catch(() => {});
    return false;
  }

  end(trailers?: readonly string[]): void {
    if (this.#state === "replaced") return;
    if (this.#writer === undefined) this.#next.end(trailers);
    else {
      this.#trailers = trailers;
      this.#writer.close().catch(() => {});
    }
  }

  onDrain(listener: () => void): void {
    this.#onDrain = listener;
  }

  withdraw(): void {
    this.#state = "passing";
    this.#next.withdraw();
  }

  leave(): void {
    this.#next.leave();
  }

  #streams(
    response: ResponseView,
    headers: readonly string[],
  ): PolicyStreams | MadeRefusal | undefined {
    if (isCoded(headerValue(headers, "content-encoding")))
      throw new Error("the response is compressed although the gateway did not ask for that");
    const { name, definition, options } = this.#policy;
    const made: unknown = runHook(this.#exchange, name, HOOK, () =>
      definition.responseStream?.(response, options),
    );
    refusePromise(made);
    if (made === undefined || MadeRefusal.isMade(made) || areStreams(made)) return made;
    throw new TypeError("responseStream returned something other than a pair of streams");
  }

  #pipe({ readable, writable }: PolicyStreams): void {
    this.#state = "piped";
    this.#writer = writable.getWriter();
    // A stream that fails shows when it is read.
    this.#writer.closed.catch(() => {});
    this.#forward(readable.getReader()).catch((error: unknown) => {
      if (this.#exchange.isOver) return;
      noteHookFailure(this.#exchange, this.#policy, HOOK, error);
      logFields(this.#exchange.record).set("custom.policy", this.#policy.name);
      this.#exchange.abort();
    });
  }

  async #forward(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    for (;;) {
      const { done, value } = await reader.read();
      if (this.#exchange.isOver) return;
      if (done) break;
      if (!(value instanceof Uint8Array))
        throw new TypeError("the stream of responseStream has something other than bytes");
      if (!this.#next.write(value)) await this.#drained();
    }
    countCall(this.#exchange, this.#policy, HOOK, "ok");
    this.#next.end(this.#trailers);
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => {
      this.#proceed = resolve;
    });
  }
}

function areStreams(made: unknown): made is PolicyStreams {
  if (typeof made !== "object" || made === null) return false;
  return (
    "readable" in made &&
    made.readable instanceof ReadableStream &&
    "writable" in made &&
    made.writable instanceof WritableStream
  );
}
