import type { Upstream, UpstreamHandler, UpstreamRequest } from "../http/upstream/upstream.ts";
import type { GatewayContext } from "../process/gateway-context.ts";

/** How a server is asked how it does. Times in milliseconds. */
export interface ActiveCheckSettings {
  /** Below the path of the server's address. */
  readonly path: string;
  /** From the end of one check to the next one. */
  readonly interval: number;
  /** To the head of the response. */
  readonly timeout: number;
  /** What it says when it does well; absent: 200 to 299. */
  readonly expectedStatuses?: ReadonlySet<number>;
  /** Checks in a row that fail before it is not asked any more. */
  readonly unhealthyThreshold: number;
  /** Checks in a row that it has to pass before it is asked again. */
  readonly healthyThreshold: number;
}

/**
 * Asks a server again and again how it does, from the first request on that a gateway has for it until another
 * configuration is served. The first check decides alone; before it the server is taken to do well.
 */
export class ActiveCheck {
  /** What the checks say. */
  isHealthy = true;
  readonly #server: Upstream;
  readonly #settings: ActiveCheckSettings;
  #gateway: GatewayContext | undefined;
  #forgetReloads: (() => void) | undefined;
  #isFirst = true;
  /** In a row, of checks that say other than `isHealthy`. */
  #others = 0;
  #timer: NodeJS.Timeout | undefined;
  #request: UpstreamRequest | undefined;

  constructor(server: Upstream, settings: ActiveCheckSettings) {
    this.#server = server;
    this.#settings = settings;
  }

  /** Begins, unless it has begun. */
  start(gateway: GatewayContext): void {
    if (this.#gateway !== undefined) return;
    this.#gateway = gateway;
    this.#forgetReloads = gateway.onReload(() => this.stop());
    this.#ask();
  }

  /** Ends it; the next `start` begins it again. */
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

  /** `result`: the status, or why there was none. */
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

/** One check: the head of the response decides, and what follows is read and thrown away. */
class Check implements UpstreamHandler {
  readonly #done: (result: number | string) => void;
  #isDone = false;

  constructor(done: (result: number | string) => void) {
    this.#done = done;
  }

  /** Only the first call counts. */
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
