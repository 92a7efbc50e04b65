import type { Upstream, UpstreamHandler, UpstreamRequest } from "../http/upstream/upstream.ts";
import type { GatewayContext } from "../process/gateway-context.ts";

/** Settings of health checks. Times in milliseconds. */
export interface ActiveCheckSettings {
  /** Path below that of the server's address. */
  readonly path: string;
  /** Time from the end of one check to the next one. */
  readonly interval: number;
  /** Time to the head of the response. */
  readonly timeout: number;
  /** Statuses of a healthy server; 200 to 299 if absent. */
  readonly expectedStatuses?: ReadonlySet<number>;
  /** Number of consecutive failures after which the server gets no more requests. */
  readonly unhealthyThreshold: number;
  /** Number of consecutive successes after which it gets requests again. */
  readonly healthyThreshold: number;
}

/**
 * Checks a server periodically, from the gateway's first request for it until the next reload. The first check decides alone;
 * before it the server counts as healthy.
 */
export class ActiveCheck {
  /** Result of the checks. */
  isHealthy = true;
  readonly #server: Upstream;
  readonly #settings: ActiveCheckSettings;
  #gateway: GatewayContext | undefined;
  #forgetReloads: (() => void) | undefined;
  #isFirst = true;
  /** Number of consecutive checks that contradict `isHealthy`. */
  #others = 0;
  #timer: NodeJS.Timeout | undefined;
  #request: UpstreamRequest | undefined;

  constructor(server: Upstream, settings: ActiveCheckSettings) {
    this.#server = server;
    this.#settings = settings;
  }

  /** Starts checking, unless it has started. */
  start(gateway: GatewayContext): void {
    if (this.#gateway !== undefined) return;
    this.#gateway = gateway;
    this.#forgetReloads = gateway.onReload(() => this.stop());
    this.#ask();
  }

  /** Stops checking until the next `start`. */
  stop(): void {
    this.#gateway = undefined;
    this.#forgetReloads?.();
    this.#forgetReloads = undefined;
    clearTimeout(this.#timer);
    this.#request?.abort();
    this.#request = undefined;
  }

  #ask(): void {
    const { path, timeout } = this.#settings;
    const server = this.#server;
    const check = new Check((status) => this.#note(status));
    const headers = ["host", server.authority, "user-agent", "gwc-health-check"];
    const call = { method: "GET", path: `${server.basePath}${path}`, headers, body: null };
    const request = server.send(call, check);
    this.#request = request;
    this.#timer = setTimeout(() => {
      request.abort("timeout");
      check.finish(`no response within ${timeout} ms`);
    }, timeout);
    this.#timer.unref();
  }

  /** Records a result: the status, or why there was no response. */
  #note(result: number | string): void {
    const gateway = this.#gateway;
    if (gateway === undefined) return;
    clearTimeout(this.#timer);
    const { interval, unhealthyThreshold, healthyThreshold } = this.#settings;
    const isWell = typeof result === "number" && this.#isExpected(result);
    this.#others = isWell === this.isHealthy ? 0 : this.#others + 1;
    const needed = this.#isFirst ? 1 : this.isHealthy ? unhealthyThreshold : healthyThreshold;
    this.#isFirst = false;
    if (this.#others >= needed) {
      this.isHealthy = isWell;
      this.#others = 0;
      const outcome = typeof result === "number" ? `status ${result}` : result;
      const text = isWell
        ? "passes its health checks again"
        : `fails its health checks: ${outcome}`;
      gateway.warn(`${this.#server.name} ${text}`);
    }
    this.#timer = setTimeout(() => this.#ask(), interval);
    this.#timer.unref();
  }

  #isExpected(status: number): boolean {
    const { expectedStatuses } = this.#settings;
    return expectedStatuses?.has(status) ?? (status >= 200 && status < 300);
  }
}

/** One check. The head of the response decides; its body is read and discarded. */
class Check implements UpstreamHandler {
  readonly #done: (result: number | string) => void;
  #isDone = false;

  constructor(done: (result: number | string) => void) {
    this.#done = done;
  }

  /** Ends the check; only the first call counts. */
  finish(result: number | string): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#done(result);
  }

  onHead(status: number): void {
    this.finish(status);
  }

  onData(): boolean {
    return true;
  }

  onEnd(): void {}

  onError({ detail }: { readonly detail: string }): void {
    this.finish(detail);
  }
}
