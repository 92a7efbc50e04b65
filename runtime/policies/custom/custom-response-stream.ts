import { isCoded } from "../../http/body/content-coding.ts";
import type { Exchange } from "../../http/exchange.ts";
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
import { HookStreams, type StreamTarget } from "./hook-streams.ts";
import { MadeRefusal } from "./made-refusal.ts";
import { type KnownIdentities, RequestView } from "./request-view.ts";
import { watchdog } from "./watchdog.ts";

const HOOK = "responseStream";

/** Passes the body of every later response to the exchange through the streams of a policy's `responseStream` hook. */
export function applyToStream(
  exchange: Exchange,
  policy: CustomPolicy,
  identities?: KnownIdentities,
): void {
  requirePlain(exchange);
  const view = new RequestView(exchange, identities).close();
  exchange.interceptResponse((next) => new CustomStreamFilter(exchange, next, policy, view));
}

/** Pipes a body through the streams of a hook. If the hook fails before the head is sent, the response is replaced. */
class CustomStreamFilter implements ResponseSink {
  readonly #exchange: Exchange;
  readonly #next: ResponseSink;
  readonly #policy: CustomPolicy;
  readonly #request: RequestView;
  #isReplaced = false;
  /** The streams of the current response; `undefined` if it passes unchanged. */
  #streams: HookStreams | undefined;
  #onDrain: (() => void) | undefined;

  constructor(exchange: Exchange, next: ResponseSink, policy: CustomPolicy, request: RequestView) {
    this.#exchange = exchange;
    this.#next = next;
    this.#policy = policy;
    this.#request = request;
    exchange.onAbort(() => this.#streams?.cancel());
    next.onDrain(() => {
      if (this.#streams === undefined) this.#onDrain?.();
      else this.#streams.proceed();
    });
  }

  respond(status: number, headers: readonly string[], body: string | Uint8Array): void {
    this.writeHead(status, headers, Buffer.byteLength(body));
    this.write(body);
    this.end();
  }

  writeHead(status: number, headers: readonly string[], length: number | undefined): void {
    this.#isReplaced = false;
    this.#streams = undefined;
    if (hasNoBody(this.#exchange, status)) {
      this.#next.writeHead(status, headers, length);
      return;
    }
    const edited = new EditedList(headers, false);
    const response = new ResponseView(status, edited, this.#request);
    try {
      const made = this.#call(response, headers);
      if (MadeRefusal.isMade(made)) {
        this.#isReplaced = true;
        respondInstead(this.#exchange, this.#next, this.#policy, HOOK, made);
        return;
      }
      const { checkedStatus } = response;
      if (made === undefined) countCall(this.#exchange, this.#policy, HOOK, "ok");
      else this.#streams = new HookStreams(made, this.#policy.deadline, this.#target());
      this.#next.writeHead(checkedStatus, edited.list, made === undefined ? length : undefined);
      const streams = this.#streams;
      // Their code runs outside of any call of the hook: the watchdog counts them as an async hook.
      if (streams !== undefined) void watchdog.watch(this.#policy.name, () => streams.run());
    } catch (error) {
      noteHookFailure(this.#exchange, this.#policy, HOOK, error);
      if (this.#policy.passesOnFailure) this.#next.writeHead(status, headers, length);
      else {
        this.#isReplaced = true;
        respondInstead(this.#exchange, this.#next, this.#policy, HOOK);
      }
    } finally {
      response.close();
    }
  }

  write(chunk: string | Uint8Array): boolean {
    if (this.#isReplaced) return true;
    return (this.#streams ?? this.#next).write(chunk);
  }

  end(trailers?: readonly string[]): void {
    if (!this.#isReplaced) (this.#streams ?? this.#next).end(trailers);
  }

  onDrain(listener: () => void): void {
    this.#onDrain = listener;
  }

  withdraw(): void {
    this.#isReplaced = false;
    this.#streams?.cancel();
    this.#streams = undefined;
    this.#next.withdraw();
  }

  leave(): void {
    this.#next.leave();
  }

  #call(
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

  /** Passes pieces on to the client. */
  #target(): StreamTarget {
    const exchange = this.#exchange;
    return {
      write: (bytes) => this.#next.write(bytes),
      end: (trailers) => {
        countCall(exchange, this.#policy, HOOK, "ok");
        this.#next.end(trailers);
      },
      fail: (error) => {
        if (exchange.isOver) return;
        noteHookFailure(exchange, this.#policy, HOOK, error);
        exchange.record.reason = "Custom";
        exchange.abort();
      },
      onDrain: () => this.#onDrain?.(),
    };
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
