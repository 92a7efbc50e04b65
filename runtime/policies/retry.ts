import {
  forward,
  isMovable,
  keepUnsent,
  Relay,
  type ServerChoice,
  upstreamCall,
} from "../backends/host.ts";
import type { ResponseVariables } from "../cel/variables.ts";
import { isBodySource } from "../http/body/body.ts";
import { ReplayBody } from "../http/body/replay-body.ts";
import { type Exchange, logFields } from "../http/exchange.ts";
import { httpStatusOf } from "../http/grpc-status.ts";
import { headerValue } from "../http/headers/header-list.ts";
import { ReceivedResponse } from "../http/received-response.ts";
import { sendInSpan } from "../http/upstream/traced-request.ts";
import type {
  AbortReason,
  Upstream,
  UpstreamCall,
  UpstreamFailure,
  UpstreamHandler,
  UpstreamRequest,
} from "../http/upstream/upstream.ts";
import { timedOut } from "./timeout.ts";

/** When and how often a request is sent again. Times in milliseconds; undefined: no limit. */
export interface RetrySettings {
  /** Attempts after the first one. */
  readonly attempts: number;
  /** Between an attempt and the next one. */
  readonly backoff: number;
  /**
   * Responses with these statuses are thrown away while attempts are left; those of gRPC that failed before anything was
   * sent (trailers alone) have the status of HTTP that says the same.
   */
  readonly codes: ReadonlySet<number>;
  /** For all attempts together, to the end of the response. */
  readonly requestTimeout: number | undefined;
  /** For one attempt, to the end of the response. */
  readonly attemptTimeout: number | undefined;
}

/** Whether a response is thrown away for its head, while attempts are left. */
export type RetryTest = (response: ResponseVariables) => boolean;

/** Bytes of a request body that are kept for another attempt; a longer body is sent once. */
const KEPT_BODY = 65_536;

/**
 * Like `forward`, and again when the upstream can't be reached, breaks off, takes too long or answers with a status to
 * retry; never once the client has seen a byte of the response. Later attempts carry `x-retry-attempt: N`.
 * A change of the protocol is asked for once. A request of which nothing was sent goes to another server, which is no
 * attempt. `server`: the one to ask, or what chooses one for each attempt.
 */
export function forwardRetrying(
  exchange: Exchange,
  server: Upstream | ServerChoice,
  settings: RetrySettings,
  isWanted?: RetryTest,
): void {
  const choice = "next" in server ? server : undefined;
  const choose = "next" in server ? () => server.next() : () => server;
  if (exchange.upgrade !== undefined) {
    forward(exchange, choose(), choice);
    return;
  }
  const next = (): RetryTarget => {
    const chosen = choose();
    return { upstream: chosen, call: () => namedCall(exchange, chosen) };
  };
  sendRetrying(exchange, next, settings, isWanted, choice);
}

function namedCall(exchange: Exchange, upstream: Upstream): UpstreamCall {
  exchange.record.upstream = upstream.name;
  return upstreamCall(exchange, upstream);
}

/** Where an attempt goes. */
export interface RetryTarget {
  readonly upstream: Upstream;
  /** What is sent; asked for when the attempt begins. */
  readonly call: () => UpstreamCall;
}

/** The same to servers that `next` gives; undefined: there is no other one. `choice`: what `next` chooses from. */
export function sendRetrying(
  exchange: Exchange,
  next: () => RetryTarget | undefined,
  settings: RetrySettings,
  isWanted?: RetryTest,
  choice?: Pick<ServerChoice, "hasUntried">,
): void {
  exchange.removeRequestHeader("x-retry-attempt");
  new Attempts(exchange, next, settings, isWanted, choice).start();
}

/** The attempts of one request. */
class Attempts {
  readonly settings: RetrySettings;
  readonly #isWanted: RetryTest | undefined;
  readonly #exchange: Exchange;
  readonly #next: () => RetryTarget | undefined;
  readonly #choice: Pick<ServerChoice, "hasUntried"> | undefined;
  /** Where the next attempt goes, once that was asked. */
  #target: RetryTarget | undefined;
  readonly #body: ReplayBody | undefined;
  readonly #relay: Relay;
  #count = 0;
  #current: Attempt | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #pause: NodeJS.Timeout | undefined;

  constructor(
    exchange: Exchange,
    next: () => RetryTarget | undefined,
    settings: RetrySettings,
    isWanted: RetryTest | undefined,
    choice: Pick<ServerChoice, "hasUntried"> | undefined,
  ) {
    this.#choice = choice;
    this.settings = settings;
    this.#isWanted = isWanted;
    this.#exchange = exchange;
    this.#next = next;
    this.#relay = new Relay(exchange);
    const { body } = exchange;
    if (settings.attempts > 0 && isBodySource(body)) {
      this.#body = new ReplayBody(body, KEPT_BODY, exchange.newBuffer());
    }
  }

  start(): void {
    const { requestTimeout } = this.settings;
    if (requestTimeout !== undefined) {
      this.#deadline = setTimeout(() => this.#end(timedOut), requestTimeout);
    }
    this.#exchange.onAbort(() => {
      this.finish();
      this.#current?.drop();
    });
    this.#send();
  }

  /** Whether a response is to be thrown away for another one. */
  rejects(status: number, headers: readonly string[]): boolean {
    const isFailure =
      this.settings.codes.has(retryStatus(status, headers)) ||
      this.#isWanted?.(new ReceivedResponse(status, headers)) === true;
    return isFailure && this.hasAnother;
  }

  /** Whether an attempt that failed is followed by another one, whose server is chosen by this question. */
  get hasAnother(): boolean {
    const { headersSent, isOver } = this.#exchange;
    return (
      this.#count < this.settings.attempts &&
      !headersSent &&
      !isOver &&
      (this.#body?.isReplayable ?? true) &&
      this.#hasTarget
    );
  }

  get #hasTarget(): boolean {
    this.#target ??= this.#next();
    return this.#target !== undefined;
  }

  /** Sends the request to another server at once, if nothing of it was sent and there is one that was not tried. */
  moved(failure: UpstreamFailure): boolean {
    const { headersSent, isOver } = this.#exchange;
    if (!isMovable(failure) || headersSent || isOver || this.#choice?.hasUntried !== true)
      return false;
    if (this.#body === undefined) keepUnsent(this.#exchange, failure);
    else if (!this.#body.isReplayable) return false;
    this.#send();
    return true;
  }

  /** Sends the request again, after the pause. */
  again(): void {
    this.#count += 1;
    const number = String(this.#count);
    this.#exchange.setRequestHeader("x-retry-attempt", number);
    logFields(this.#exchange.record).set("retry.attempt", number);
    this.#pause = setTimeout(() => this.#send(), this.settings.backoff);
  }

  /** This attempt's response is the client's. */
  settle(request: UpstreamRequest): Relay {
    this.#body?.keepNothing();
    this.#relay.start(request);
    return this.#relay;
  }

  /** The last attempt failed, or all of them took too long. */
  fail(failure: UpstreamFailure): void {
    this.finish();
    this.#body?.keepNothing();
    this.#relay.onError(failure);
  }

  /** Nothing more is waited for. */
  finish(): void {
    clearTimeout(this.#deadline);
    clearTimeout(this.#pause);
  }

  #send(): void {
    const attempt = new Attempt(this);
    this.#current = attempt;
    if (this.#body !== undefined) this.#exchange.setRequestBody(this.#body.read());
    const target = this.#target ?? this.#next();
    this.#target = undefined;
    if (target === undefined) throw new Error("an attempt at nobody");
    const call = target.call();
    const span = this.#exchange.trace?.beginCall(call.method);
    if (this.#count > 0) span?.number("http.request.resend_count", this.#count);
    attempt.start(sendInSpan(span, target.upstream, call, attempt));
  }

  #end(failure: UpstreamFailure): void {
    this.#current?.drop("timeout");
    this.fail(failure);
  }
}

/** The status by which a response is tried again. Only gRPC has one in its head, where no message follows. */
function retryStatus(status: number, headers: readonly string[]): number {
  const code = status === 200 ? headerValue(headers, "grpc-status") : undefined;
  return code === undefined ? status : httpStatusOf(code);
}

/** One attempt: its response is dropped, or passed on from its head. */
class Attempt implements UpstreamHandler {
  readonly #attempts: Attempts;
  #request: UpstreamRequest | undefined;
  #relay: Relay | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(attempts: Attempts) {
    this.#attempts = attempts;
  }

  start(request: UpstreamRequest): void {
    this.#request = request;
    const { attemptTimeout } = this.#attempts.settings;
    if (this.#isOver || attemptTimeout === undefined) return;
    this.#timer = setTimeout(() => {
      request.abort("timeout");
      this.onError({ kind: "timeout", detail: "upstream call timeout" });
    }, attemptTimeout);
  }

  /** Breaks it off; nothing more comes of it. */
  drop(reason?: AbortReason): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#request?.abort(reason);
  }

  onHead(status: number, headers: readonly string[]): void {
    const attempts = this.#attempts;
    if (attempts.rejects(status, headers)) {
      this.drop("discarded");
      attempts.again();
      return;
    }
    if (this.#request === undefined) return;
    this.#relay = attempts.settle(this.#request);
    this.#relay.onHead(status, headers);
  }

  onData(chunk: Buffer): boolean {
    return this.#relay?.onData(chunk) ?? true;
  }

  onEnd(trailers: readonly string[] | undefined): void {
    if (this.#isOver) return;
    this.#finish();
    this.#attempts.finish();
    this.#relay?.onEnd(trailers);
  }

  onError(failure: UpstreamFailure): void {
    if (this.#isOver) return;
    this.#finish();
    if (this.#attempts.moved(failure)) return;
    const isFinal = failure.isForbidden === true || failure.isDenied === true;
    if (!isFinal && this.#attempts.hasAnother) this.#attempts.again();
    else this.#attempts.fail(failure);
  }

  #finish(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }
}
