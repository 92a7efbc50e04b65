import type { Exchange } from "../../http/exchange.ts";
import { maxHeld } from "./limits.ts";

/** The client's side of one stream: nothing is sent before the completion has begun, so that another provider can take over. */
export class StreamResponse {
  readonly #exchange: Exchange;
  readonly #headers: readonly string[];
  readonly #ping: string;
  readonly #keepAlive: number | undefined;
  #held: (string | Uint8Array)[] = [];
  #heldBytes = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `ping`: what the client gets when nothing came for `keepAlive` milliseconds; undefined: it gets nothing. */
  constructor(
    exchange: Exchange,
    headers: readonly string[],
    ping: string,
    keepAlive: number | undefined,
  ) {
    this.#exchange = exchange;
    this.#headers = headers;
    this.#ping = ping;
    this.#keepAlive = keepAlive;
    this.#wait();
  }

  get hasBegun(): boolean {
    return this.#exchange.headersSent;
  }

  /** Sends what came; `begins`: it is a part of the completion. False: wait for `onDrain` of the exchange. */
  write(output: readonly (string | Uint8Array)[], begins: boolean): boolean {
    if (!begins && !this.hasBegun && this.#hold(output)) return true;
    this.#begin();
    return this.#send(output);
  }

  /** `last`: the end of a stream that failed. */
  end(last?: string): void {
    clearTimeout(this.#timer);
    this.#begin();
    if (last !== undefined) this.#exchange.write(last);
    this.#exchange.end();
  }

  /** Nothing more comes from this provider. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  /** False: it has waited long enough for a beginning. */
  #hold(output: readonly (string | Uint8Array)[]): boolean {
    for (const piece of output) this.#heldBytes += piece.length;
    if (this.#heldBytes > maxHeld) return false;
    this.#held.push(...output);
    return true;
  }

  #begin(): void {
    if (this.hasBegun) return;
    this.#exchange.writeHead(200, this.#headers);
    const held = this.#held;
    this.#held = [];
    this.#send(held);
  }

  #send(output: readonly (string | Uint8Array)[]): boolean {
    let isReady = true;
    for (const piece of output) isReady = this.#exchange.write(piece);
    if (output.length > 0) this.#wait();
    return isReady;
  }

  #wait(): void {
    if (this.#keepAlive === undefined) return;
    if (this.#timer === undefined) {
      this.#timer = setTimeout(() => this.#signal(), this.#keepAlive);
    } else this.#timer.refresh();
  }

  /** Proxies close what is silent, and clients give up on it. */
  #signal(): void {
    if (this.#exchange.isOver) return;
    this.write([this.#ping], true);
    this.#timer?.refresh();
  }
}
