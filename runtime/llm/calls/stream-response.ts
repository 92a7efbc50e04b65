import type { Exchange } from "../../http/exchange.ts";
import { bufferOf } from "../chat/stream-step.ts";
import { MAX_AT_ONCE, MAX_HELD } from "./limits.ts";

/** How the client of a stream gets it. */
export interface StreamResponseSettings {
  readonly headers: readonly string[];
  /** What the client gets when nothing came for `keepAlive` milliseconds; undefined: it gets nothing. */
  readonly ping: string;
  readonly keepAlive: number | undefined;
  /** Called when the client takes more again. */
  readonly onDrain: () => void;
}

/** The client's side of one stream: nothing is sent before the completion has begun, so that another provider can take over. */
export class StreamResponse {
  readonly #exchange: Exchange;
  readonly #headers: readonly string[];
  readonly #ping: string;
  readonly #keepAlive: number | undefined;
  #held: (string | Uint8Array)[] = [];
  #heldBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #onDrain: () => void;
  /** What came in this tick, and leaves in one write. */
  #gathered: (string | Uint8Array)[] = [];
  /** About how many bytes. */
  #gatheredBytes = 0;
  /** The client takes what comes. */
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

  /** Sends what came; `begins`: it is a part of the completion. False: wait for `onDrain`. */
  write(output: readonly (string | Uint8Array)[], begins: boolean): boolean {
    if (!begins && !this.hasBegun && this.#hold(output)) return true;
    if (this.hasBegun) this.#gather(output);
    else {
      // The head takes the first events along.
      this.#begin();
      this.#gather(output);
      this.#flush();
    }
    return this.#isReady;
  }

  /** `last`: the end of a stream that failed. */
  end(last?: string): void {
    clearTimeout(this.#timer);
    this.#begin();
    if (last !== undefined) this.#gather([last]);
    this.#flush();
    this.#exchange.end();
  }

  /** Nothing more comes from this provider. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  /** False: it has waited long enough for a beginning. */
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
    if (this.#gathered.length === 0) process.nextTick(() => this.#flush());
    for (const piece of output) {
      this.#gathered.push(piece);
      this.#gatheredBytes += piece.length;
    }
    if (this.#gatheredBytes > MAX_AT_ONCE) this.#flush();
  }

  #flush(): void {
    const gathered = this.#gathered;
    const [first] = gathered;
    if (first === undefined) return;
    this.#send(gathered.length === 1 ? first : joined(gathered));
    this.#gathered = [];
    this.#gatheredBytes = 0;
  }

  #send(piece: string | Uint8Array): void {
    if (this.#exchange.write(piece)) return;
    this.#isReady = false;
    this.#exchange.onDrain(() => {
      this.#isReady = true;
      this.#onDrain();
    });
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

/** Several pieces as one. Events that guards have looked at are mostly texts, of which nobody has to make bytes. */
function joined(pieces: readonly (string | Uint8Array)[]): string | Uint8Array {
  const areTexts = pieces.every((piece) => typeof piece === "string");
  return areTexts ? pieces.join("") : Buffer.concat(pieces.map(bufferOf));
}
