import { isBodySource } from "../body/body.ts";
import type {
  AbortReason,
  Upstream,
  UpstreamCall,
  UpstreamFailure,
  UpstreamHandler,
  UpstreamRequest,
} from "./upstream.ts";
import { WrappedUpstream } from "./wrapped-upstream.ts";

/** When a request is sent again. */
export interface RepeatSettings {
  /** Number of attempts after the first one. */
  readonly attempts: number;
  /** Milliseconds between two attempts. */
  readonly backoff: number;
  /** Statuses whose responses are discarded while attempts are left. */
  readonly codes: ReadonlySet<number>;
}

/**
 * An upstream that retries if it cannot be connected to, and after failed responses if the request is repeatable. A body that
 * arrives in pieces is sent once.
 */
export class RepeatingUpstream extends WrappedUpstream {
  readonly #settings: RepeatSettings;
  readonly #isRepeatable: (call: UpstreamCall) => boolean;

  /** `isRepeatable`: whether a server may get a request twice. */
  constructor(
    server: Upstream,
    settings: RepeatSettings,
    isRepeatable: (call: UpstreamCall) => boolean,
  ) {
    super(server);
    this.#settings = settings;
    this.#isRepeatable = isRepeatable;
  }

  override send(call: UpstreamCall, handler: UpstreamHandler): UpstreamRequest {
    if (isBodySource(call.body)) return this.server.send(call, handler);
    return new RepeatedRequest(this.server, call, handler, this.#settings, this.#isRepeatable);
  }
}

/** The attempts of one request. */
class RepeatedRequest implements UpstreamRequest, UpstreamHandler {
  readonly #server: Upstream;
  readonly #call: UpstreamCall;
  readonly #handler: UpstreamHandler;
  readonly #settings: RepeatSettings;
  readonly #isRepeatable: (call: UpstreamCall) => boolean;
  #left: number;
  #current: UpstreamRequest | undefined;
  #pause: NodeJS.Timeout | undefined;
  #hasHead = false;
  #isOver = false;

  constructor(
    server: Upstream,
    call: UpstreamCall,
    handler: UpstreamHandler,
    settings: RepeatSettings,
    isRepeatable: (call: UpstreamCall) => boolean,
  ) {
    this.#server = server;
    this.#call = call;
    this.#handler = handler;
    this.#settings = settings;
    this.#isRepeatable = isRepeatable;
    this.#left = settings.attempts;
    this.#send();
  }

  abort(reason?: AbortReason): void {
    this.#isOver = true;
    clearTimeout(this.#pause);
    this.#current?.abort(reason);
  }

  resume(): void {
    this.#current?.resume();
  }

  onHead(status: number, headers: readonly string[]): void {
    const isRejected = this.#settings.codes.has(status) && this.#left > 0;
    if (isRejected && this.#isRepeatable(this.#call)) {
      this.#current?.abort("discarded");
      this.#sendAgain();
      return;
    }
    this.#hasHead = true;
    this.#handler.onHead(status, headers);
  }

  onData(chunk: Buffer): boolean {
    return this.#handler.onData(chunk);
  }

  onEnd(trailers?: readonly string[]): void {
    this.#handler.onEnd(trailers);
  }

  onError(failure: UpstreamFailure): void {
    const mayRepeat = !this.#hasHead && this.#left > 0 && failure.isForbidden !== true;
    if (mayRepeat && (failure.kind === "connect" || this.#isRepeatable(this.#call))) {
      this.#sendAgain();
    } else {
      this.#handler.onError(failure);
    }
  }

  #sendAgain(): void {
    this.#left -= 1;
    this.#pause = setTimeout(() => this.#send(), this.#settings.backoff);
  }

  #send(): void {
    if (this.#isOver) return;
    this.#current = this.#server.send({ ...this.#call, headers: [...this.#call.headers] }, this);
  }
}
