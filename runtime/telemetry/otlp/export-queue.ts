import { MiB, SECOND } from "../../process/units.ts";
import { type Indexed, SwapSet } from "../../time/deadlines.ts";
import type { ExportFigures } from "./export-metrics.ts";
import { ItemBuffer } from "./item-buffer.ts";
import type { OtlpEnvelope } from "./otlp-format.ts";

/** Sends items to a collector. */
export interface Exporter {
  /** The destination, for the log. */
  readonly name: string;
  /** Sends an OTLP request. Never rejects; resolves after at most a few seconds. */
  send(request: Buffer): Promise<ExportResult>;
}

/** The result of sending a batch. */
export type ExportResult =
  /** `rejected`: the number of items that the collector rejected. */
  | { readonly kind: "taken"; readonly rejected: number; readonly detail: string }
  /** A retry may succeed; `after`: the delay that the collector requests, in milliseconds. */
  | { readonly kind: "again"; readonly after: number | undefined; readonly detail: string }
  | { readonly kind: "refused"; readonly detail: string };

/** The context that the queues of a process share. */
export interface ExportContext {
  readonly figures: ExportFigures;
  readonly warn: (message: string) => void;
  /** The queues with items; they are flushed before the process ends. */
  readonly pending: Set<ExportQueue>;
}

/** Number of items per batch, and the maximum time that an item waits for its batch. */
const BATCH_SIZE = 512;
/** Bytes at which a batch is complete. Servers of gRPC accept 4 MiB by default. */
const BATCH_BYTES = 2 * MiB;
const BATCH_DELAY = 5 * SECOND;
/** Maximum number of queued items, and of bytes that are queued or in flight; further items are dropped and counted. */
const MAX_ITEMS = 2048;
const MAX_BYTES = 8 * MiB;
/**
 * Maximum number of batches in flight while the collector accepts them. With one, a distant collector would get only 512
 * items per round trip, and the rest would be lost. A failing collector gets fewer, down to one.
 */
const MAX_IN_FLIGHT = 8;
/** Milliseconds before a batch is retried, doubled each time; it is dropped after the maximum number of tries. */
const FIRST_PAUSE = SECOND;
const MAX_PAUSE = 30 * SECOND;
const MAX_TRIES = 5;
/** Minimum time between two warnings about lost items. */
const WARN_INTERVAL = 60 * SECOND;

/** A batch in flight. */
interface BatchInFlight extends Indexed {
  readonly batch: ItemBuffer;
  /** Ends the pause before the next try. */
  wake: (() => void) | undefined;
  ended: Promise<void> | undefined;
}

/**
 * A bounded queue of items for a collector, which sends them in batches. Requests never wait for it, whatever the collector
 * does.
 */
export class ExportQueue {
  readonly #what: string;
  readonly #exporter: Exporter;
  readonly #envelope: OtlpEnvelope;
  readonly #context: ExportContext;
  /** The queued batches: full ones, and one that is being filled. */
  readonly #batches: ItemBuffer[] = [];
  /** The buffer of a sent batch, for reuse. */
  #spare: ItemBuffer | undefined;
  #items = 0;
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #inFlight = new SwapSet<BatchInFlight>();
  /** Current limit of batches in flight, adapted to the results. */
  #maxInFlight = 1;
  #isEnding = false;
  /** Whether a warning was logged within the interval. */
  #hasWarned = false;

  /** `what`: the name of the items in the log, for example `spans`. */
  constructor(what: string, exporter: Exporter, envelope: OtlpEnvelope, context: ExportContext) {
    this.#what = what;
    this.#exporter = exporter;
    this.#envelope = envelope;
    this.#context = context;
  }

  /** Whether no item can be added; callers check this before they create one. */
  get isFull(): boolean {
    return this.#items >= MAX_ITEMS || this.#bytes > MAX_BYTES;
  }

  /** Counts an item as dropped that was not created because the queue is full. */
  drop(): void {
    this.#lose(1, "its queue is full");
  }

  /**
   * Returns the buffer for an item; `undefined` if the queue is full and the item is dropped. The caller then calls
   * `added`.
   */
  get room(): ItemBuffer | undefined {
    if (!this.isFull) return this.#batchWithRoom();
    this.drop();
    return undefined;
  }

  /** Counts an item that was added to the buffer from `room`. */
  added(batch: ItemBuffer): void {
    if (this.#items === 0) this.#context.pending.add(this);
    this.#items += 1;
    this.#bytes += batch.countItem();
    this.#sendFull();
  }

  /** Sends everything once and resolves when that has ended; no items follow. */
  async flush(): Promise<void> {
    this.#isEnding = true;
    const sent: (Promise<void> | undefined)[] = [];
    this.#inFlight.visit((each) => each.wake?.());
    while (this.#items > 0) this.#sendNext();
    this.#inFlight.visit((each) => sent.push(each.ended));
    await Promise.all(sent);
  }

  /** Sends the full batches, up to the limit; an incomplete one waits for its time. */
  #sendFull(): void {
    while (isComplete(this.#batches[0]) && this.#inFlight.size < this.#maxInFlight)
      this.#sendNext();
    if (this.#items === 0 || this.#timer !== undefined) return;
    if (this.#inFlight.size >= this.#maxInFlight) return;
    this.#timer = setTimeout(() => this.#sendNext(), BATCH_DELAY);
    this.#timer.unref();
  }

  #sendNext(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const batch = this.#batches.shift();
    if (batch === undefined) return;
    this.#items -= batch.count;
    const sent: BatchInFlight = { place: 0, batch, wake: undefined, ended: undefined };
    this.#inFlight.add(sent);
    sent.ended = this.#send(sent).then(() => this.#ended(sent));
  }

  #ended(sent: BatchInFlight): void {
    const { batch } = sent;
    this.#inFlight.delete(sent);
    this.#bytes -= batch.length;
    batch.clear();
    this.#spare = batch;
    this.#sendFull();
    if (this.#items === 0 && this.#inFlight.size === 0) this.#context.pending.delete(this);
  }

  async #send(sent: BatchInFlight): Promise<void> {
    const { count } = sent.batch;
    const request = this.#envelope.around(sent.batch);
    for (let tries = 1; ; tries++) {
      const result = await this.#exporter.send(request);
      this.#maxInFlight =
        result.kind === "taken" ? MAX_IN_FLIGHT : Math.max(1, this.#maxInFlight >> 1);
      if (result.kind === "taken") {
        this.#context.figures.exported.value += count - result.rejected;
        if (result.rejected > 0) this.#lose(result.rejected, result.detail);
        return;
      }
      if (result.kind === "refused" || tries === MAX_TRIES || this.#isEnding) {
        this.#lose(count, result.detail);
        return;
      }
      this.#warn(result.detail);
      await pause(sent, result.after ?? FIRST_PAUSE * 2 ** (tries - 1));
    }
  }

  #batchWithRoom(): ItemBuffer {
    const last = this.#batches.at(-1);
    if (last !== undefined && !isComplete(last)) return last;
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
    }, WARN_INTERVAL).unref();
    const { dropped } = this.#context.figures;
    this.#context.warn(
      `${this.#what} do not reach ${this.#exporter.name}: ${detail} (${dropped.value} dropped so far)`,
    );
  }
}

function isComplete(batch: ItemBuffer | undefined): boolean {
  return batch !== undefined && (batch.count >= BATCH_SIZE || batch.length >= BATCH_BYTES);
}

function pause(sent: BatchInFlight, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, Math.min(milliseconds, MAX_PAUSE)).unref();
    sent.wake = resolve;
  });
}
