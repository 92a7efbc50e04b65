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

/** Settings for retrying a request. Times are in milliseconds; `undefined` means no limit. */
export interface RetrySettings {
  /** Number of attempts after the first one. */
  readonly attempts: number;
  /** Pause before each retry. */
  readonly backoff: number;
  /**
   * Responses with these statuses are discarded while attempts are left. A trailers-only gRPC failure counts as the
   * corresponding HTTP status.
   */
  readonly codes: ReadonlySet<number>;
  /** Limit for all attempts together, until the end of the response. */
  readonly requestTimeout: number | undefined;
  /** Limit for one attempt, until the end of the response. */
  readonly attemptTimeout: number | undefined;
}

/** Decides from the head whether a response is discarded while attempts are left. */
export type RetryTest = (response: ResponseVariables) => boolean;

/** Maximum number of bytes of a request body that are buffered for a retry; a longer body is sent only once. */
const KEPT_BODY = 65_536;

/**
 * Forwards like `forward`, and retries if the upstream cannot be reached, disconnects, times out or responds with a status
 * in `codes`; never after the client has received a byte of the response. Retries carry `x-retry-attempt: N`. Upgrade
 * requests are not retried. A request of which nothing was sent goes to another server, which does not count as an attempt.
 * `server`: the upstream, or a choice for each attempt.
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

/** The destination of an attempt. */
export interface RetryTarget {
  readonly upstream: Upstream;
  /** Returns the call; called when the attempt begins. */
  readonly call: () => UpstreamCall;
}

/**
 * Does the same with the servers from `next`, which returns `undefined` if there is no other one. `choice`: the choice
 * behind `next`.
 */
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
  /** The destination of the next attempt, if it was already chosen. */
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

  /** Whether a response is discarded for a retry. */
  rejects(status: number, headers: readonly string[]): boolean {
    const isFailure =
      this.settings.codes.has(retryStatus(status, headers)) ||
      this.#isWanted?.(new ReceivedResponse(status, headers)) === true;
    return isFailure && this.hasAnother;
  }

  /** Whether a failed attempt is followed by another one. Chooses its server. */
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

  /** Sends the request to another server at once if nothing was sent and an untried server is left. */
  moved(failure: UpstreamFailure): boolean {
    const { headersSent, isOver } = this.#exchange;
    if (!isMovable(failure) || headersSent || isOver || this.#choice?.hasUntried !== true)
      return false;
    if (this.#body === undefined) keepUnsent(this.#exchange, failure);
    else if (!this.#body.isReplayable) return false;
    this.#send();
    return true;
  }

  /** Retries the request after the pause. */
  again(): void {
    this.#count += 1;
    const number = String(this.#count);
    this.#exchange.setRequestHeader("x-retry-attempt", number);
    logFields(this.#exchange.record).set("retry.attempt", number);
    this.#pause = setTimeout(() => this.#send(), this.settings.backoff);
  }

  /** Forwards this attempt's response to the client. */
  settle(request: UpstreamRequest): Relay {
    this.#body?.keepNothing();
    this.#relay.start(request);
    return this.#relay;
  }

  /** Ends with the failure of the last attempt, or of all together by timeout. */
  fail(failure: UpstreamFailure): void {
    this.finish();
    this.#body?.keepNothing();
    this.#relay.onError(failure);
  }

  /** Clears the timers. */
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
    if (target === undefined) throw new Error("an attempt without a server");
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

/** Returns the status that decides about a retry. For gRPC it is in the head if no message follows. */
function retryStatus(status: number, headers: readonly string[]): number {
  const code = status === 200 ? headerValue(headers, "grpc-status") : undefined;
  return code === undefined ? status : httpStatusOf(code);
}

/** One attempt, whose response is discarded or forwarded. */
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

  /** Aborts the attempt and ignores its result. */
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
