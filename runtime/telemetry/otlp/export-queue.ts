import { MiB, SECOND } from "../../process/units.ts";
import type { ExportFigures } from "./export-metrics.ts";
import { ItemBuffer } from "./item-buffer.ts";
import type { OtlpEnvelope } from "./otlp-format.ts";

/** Sends items to a collector. */
export interface Exporter {
  /** Where it sends them, for the log. */
  readonly name: string;
  /** Sends a request of OTLP. Resolves in any case, after some seconds at most. */
  send(request: Buffer): Promise<ExportResult>;
}

/** What became of a batch. */
export type ExportResult =
  /** `rejected`: how many of it the collector did not take. */
  | { readonly kind: "taken"; readonly rejected: number; readonly detail: string }
  /** The collector may take it another time; `after`: milliseconds that it asks for. */
  | { readonly kind: "again"; readonly after: number | undefined; readonly detail: string }
  | { readonly kind: "refused"; readonly detail: string };

/** What the queues of a process share. */
export interface ExportContext {
  readonly figures: ExportFigures;
  readonly warn: (message: string) => void;
  /** The queues that hold something: they are flushed before the process ends. */
  readonly pending: Set<ExportQueue>;
}

/** Items of a batch, and how long one waits for its batch at most. */
const batchSize = 512;
const batchDelay = 5 * SECOND;
/** Items, and bytes of them, that wait; what comes then is dropped and counted. */
const maxItems = 2048;
const maxBytes = 8 * MiB;
/** Milliseconds before a batch is sent again, doubled each time; after so many tries it is dropped. */
const firstPause = SECOND;
const maxPause = 30 * SECOND;
const maxTries = 5;
/** The log says this often that something is lost. */
const warnInterval = 60 * SECOND;

/**
 * What waits for a collector: bounded, sent in batches, one at a time. Requests never wait for it, whatever the collector
 * does.
 */
export class ExportQueue {
  readonly #what: string;
  readonly #exporter: Exporter;
  readonly #envelope: OtlpEnvelope;
  readonly #context: ExportContext;
  /** Those that wait: full ones, and one that is being filled. */
  readonly #batches: ItemBuffer[] = [];
  /** Room for the next one, as it was large enough for another. */
  #spare: ItemBuffer | undefined;
  #items = 0;
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #isEnding = false;
  /** Ends the pause before another try. */
  #wake: (() => void) | undefined;
  /** The log was told just now that something is lost. */
  #hasWarned = false;

  /** `what`: what the items are, for the log: `spans`. */
  constructor(what: string, exporter: Exporter, envelope: OtlpEnvelope, context: ExportContext) {
    this.#what = what;
    this.#exporter = exporter;
    this.#envelope = envelope;
    this.#context = context;
  }

  /** Nothing can be added: who asks before making an item spares the work. */
  get isFull(): boolean {
    return this.#items >= maxItems || this.#bytes > maxBytes;
  }

  /** An item is not made, as there is no room for it. */
  drop(): void {
    this.#lose(1, "its queue is full");
  }

  /** Where an item is added; undefined: there is no room, and it is dropped. `added` follows. */
  get room(): ItemBuffer | undefined {
    if (!this.isFull) return this.#batchWithRoom();
    this.drop();
    return undefined;
  }

  /** An item was added to what `room` gave. */
  added(batch: ItemBuffer): void {
    if (this.#items === 0) this.#context.pending.add(this);
    this.#items += 1;
    this.#bytes += batch.countItem();
    if (this.#items >= batchSize) this.#start();
    else this.#wait(batchDelay);
  }

  /** Sends what is there, once, and resolves when that has ended: nothing more will come. */
  async flush(): Promise<void> {
    this.#isEnding = true;
    this.#wake?.();
    while (this.#items > 0) await this.#start();
    await this.#sending;
  }

  #wait(delay: number): void {
    if (this.#timer !== undefined || this.#sending !== undefined) return;
    this.#timer = setTimeout(() => void this.#start(), delay);
    this.#timer.unref();
  }

  /** One batch at a time: a collector that is slow gets larger ones, not more of them. */
  #start(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending ??= this.#sendNext().finally(() => {
      this.#sending = undefined;
      if (this.#items >= batchSize) void this.#start();
      else if (this.#items > 0) this.#wait(batchDelay);
      else this.#context.pending.delete(this);
    });
    return this.#sending;
  }

  async #sendNext(): Promise<void> {
    const batch = this.#batches.shift();
    if (batch === undefined) return;
    const { count, length } = batch;
    this.#items -= count;
    this.#bytes -= length;
    await this.#send(count, this.#envelope.around(batch));
    batch.clear();
    this.#spare = batch;
  }

  async #send(count: number, request: Buffer): Promise<void> {
    for (let tries = 1; ; tries++) {
      const result = await this.#exporter.send(request);
      if (result.kind === "taken") {
        this.#context.figures.exported.value += count - result.rejected;
        if (result.rejected > 0) this.#lose(result.rejected, result.detail);
        return;
      }
      if (result.kind === "refused" || tries === maxTries || this.#isEnding) {
        this.#lose(count, result.detail);
        return;
      }
      this.#warn(result.detail);
      await this.#pause(result.after ?? firstPause * 2 ** (tries - 1));
    }
  }

  #pause(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      setTimeout(resolve, Math.min(milliseconds, maxPause)).unref();
      this.#wake = resolve;
    });
  }

  #batchWithRoom(): ItemBuffer {
    const last = this.#batches.at(-1);
    if (last !== undefined && last.count < batchSize) return last;
    const batch = this.#spare ?? new ItemBuffer(this.#envelope.room);
    this.#spare = undefined;
    this.#batches.push(batch);
    return batch;
  }

  #lose(count: number, detail: string): void {
    this.#context.figures.dropped.value += count;
    this.#warn(detail);
  }

  #warn(detail: string): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    setTimeout(() => {
      this.#hasWarned = false;
    }, warnInterval).unref();
    const { dropped } = this.#context.figures;
    this.#context.warn(
      `${this.#what} do not reach ${this.#exporter.name}: ${detail} (${dropped.value} dropped so far)`,
    );
  }
}
