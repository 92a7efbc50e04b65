import type { Exchange } from "../../http/exchange.ts";
import { bufferOf } from "../chat/stream-step.ts";
import { MAX_AT_ONCE, MAX_HELD } from "./limits.ts";

/** Settings of a streamed response. */
export interface StreamResponseSettings {
  readonly headers: readonly string[];
  /** Sent when nothing arrived for `keepAlive` milliseconds; never without `keepAlive`, or if it is empty. */
  readonly ping: string;
  readonly keepAlive: number | undefined;
  /** Called when the client accepts more data. */
  readonly onDrain: () => void;
}

/**
 * Client side of one stream. Sends nothing before the completion has started, so that another provider can take over until
 * then.
 */
export class StreamResponse {
  readonly #exchange: Exchange;
  readonly #headers: readonly string[];
  readonly #ping: string;
  readonly #keepAlive: number | undefined;
  #held: (string | Uint8Array)[] = [];
  #heldBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #onDrain: () => void;
  /** Output of the current tick, sent in one write. */
  #gathered: (string | Uint8Array)[] = [];
  /** Approximate size of it in bytes. */
  #gatheredBytes = 0;
  /** Whether the client accepts more data. */
  #isReady = true;

  constructor(exchange: Exchange, settings: StreamResponseSettings) {
    this.#exchange = exchange;
    this.#headers = settings.headers;
    this.#ping = settings.ping;
    this.#keepAlive = settings.keepAlive;
    this.#onDrain = settings.onDrain;
    this.#wait();
  }

  get hasBegun(): boolean {
    return this.#exchange.headersSent;
  }

  /** Sends output. `begins`: it contains a part of the completion. Returns false if the caller must wait for `onDrain`. */
  write(output: readonly (string | Uint8Array)[], begins: boolean): boolean {
    if (!begins && !this.hasBegun && this.#hold(output)) return true;
    if (this.hasBegun) this.#gather(output);
    else {
      // The head is sent together with the first events.
      this.#begin();
      this.#gather(output);
      this.#flush();
    }
    return this.#isReady;
  }

  /** Ends the response. `last`: the end of a failed stream; `trailers`: a flat list. */
  end(last: readonly (string | Uint8Array)[] = [], trailers?: readonly string[]): void {
    clearTimeout(this.#timer);
    this.#begin();
    this.#gather(last);
    this.#flush();
    this.#exchange.end(trailers);
  }

  /** Stops waiting: no more output comes from this provider. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  /** Holds output until the completion starts; false if too much is held. */
  #hold(output: readonly (string | Uint8Array)[]): boolean {
    for (const piece of output) this.#heldBytes += piece.length;
    if (this.#heldBytes > MAX_HELD) return false;
    this.#held.push(...output);
    return true;
  }

  #begin(): void {
    if (this.hasBegun) return;
    this.#exchange.writeHead(200, this.#headers);
    const held = this.#held;
    this.#held = [];
    this.#gather(held);
  }

  #gather(output: readonly (string | Uint8Array)[]): void {
    if (output.length === 0) return;
    this.#wait();
    if (this.#gathered.length === 0) process.nextTick(this.#flush);
    for (const piece of output) {
      this.#gathered.push(piece);
      this.#gatheredBytes += piece.length;
    }
    if (this.#gatheredBytes > MAX_AT_ONCE) this.#flush();
  }

  /** Bound, because the end of each tick calls it. */
  readonly #flush = (): void => {
    const gathered = this.#gathered;
    const [first] = gathered;
    if (first === undefined) return;
    this.#send(gathered.length === 1 ? first : joined(gathered));
    this.#gathered = [];
    this.#gatheredBytes = 0;
  };

  #send(piece: string | Uint8Array): void {
    if (this.#exchange.write(piece)) return;
    this.#isReady = false;
    this.#exchange.onDrain(() => {
      this.#isReady = true;
      this.#onDrain();
    });
  }

  #wait(): void {
    if (this.#keepAlive === undefined || this.#ping === "") return;
    if (this.#timer === undefined) {
      this.#timer = setTimeout(() => this.#signal(), this.#keepAlive);
    } else this.#timer.refresh();
  }

  /** Sends a ping: proxies close silent connections, and clients give up on them. */
  #signal(): void {
    if (this.#exchange.isOver) return;
    this.write([this.#ping], true);
    this.#timer?.refresh();
  }
}

/** Joins pieces. Guarded events are mostly strings, which need not be encoded here. */
function joined(pieces: readonly (string | Uint8Array)[]): string | Uint8Array {
  const areTexts = pieces.every((piece) => typeof piece === "string");
  return areTexts ? pieces.join("") : Buffer.concat(pieces.map(bufferOf));
}
