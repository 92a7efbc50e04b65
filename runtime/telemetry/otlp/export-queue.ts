import { type Indexed, SwapSet } from "../../process/deadlines.ts";
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
const BATCH_SIZE = 512;
const BATCH_DELAY = 5 * SECOND;
/** Items that wait, and bytes of them and of those under way; what comes then is dropped and counted. */
const MAX_ITEMS = 2048;
const MAX_BYTES = 8 * MiB;
/**
 * Batches under way while the collector takes them: one that is far away would otherwise get 512 items in the time that a
 * response takes, and lose the rest. One that does not take them gets fewer, and at last one by one.
 */
const MAX_IN_FLIGHT = 8;
/** Milliseconds before a batch is sent again, doubled each time; after so many tries it is dropped. */
const FIRST_PAUSE = SECOND;
const MAX_PAUSE = 30 * SECOND;
const MAX_TRIES = 5;
/** The log says this often that something is lost. */
const WARN_INTERVAL = 60 * SECOND;

/** A batch that is being sent. */
interface BatchUnderWay extends Indexed {
  readonly batch: ItemBuffer;
  /** Ends the pause before another try. */
  wake: (() => void) | undefined;
  ended: Promise<void> | undefined;
}

/**
 * What waits for a collector: bounded, and sent in batches. Requests never wait for it, whatever the collector does.
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
  readonly #underWay = new SwapSet<BatchUnderWay>();
  /** So many may be, as the last one fared. */
  #maxInFlight = 1;
  #isEnding = false;
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
    return this.#items >= MAX_ITEMS || this.#bytes > MAX_BYTES;
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
    this.#goOn();
  }

  /** Sends what is there, once, and resolves when that has ended: nothing more will come. */
  async flush(): Promise<void> {
    this.#isEnding = true;
    const sent: (Promise<void> | undefined)[] = [];
    this.#underWay.visit((each) => each.wake?.());
    while (this.#items > 0) this.#sendNext();
    this.#underWay.visit((each) => sent.push(each.ended));
    await Promise.all(sent);
  }

  /** Sends the batches that are full, as many as may be under way; the one that is being filled has its time for that. */
  #goOn(): void {
    while (this.#items >= BATCH_SIZE && this.#underWay.size < this.#maxInFlight) this.#sendNext();
    if (this.#items === 0 || this.#timer !== undefined) return;
    if (this.#underWay.size >= this.#maxInFlight) return;
    this.#timer = setTimeout(() => this.#sendNext(), BATCH_DELAY);
    this.#timer.unref();
  }

  #sendNext(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const batch = this.#batches.shift();
    if (batch === undefined) return;
    this.#items -= batch.count;
    const sent: BatchUnderWay = { place: 0, batch, wake: undefined, ended: undefined };
    this.#underWay.add(sent);
    sent.ended = this.#send(sent).then(() => this.#ended(sent));
  }

  #ended(sent: BatchUnderWay): void {
    const { batch } = sent;
    this.#underWay.delete(sent);
    this.#bytes -= batch.length;
    batch.clear();
    this.#spare = batch;
    this.#goOn();
    if (this.#items === 0 && this.#underWay.size === 0) this.#context.pending.delete(this);
  }

  async #send(sent: BatchUnderWay): Promise<void> {
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
    if (last !== undefined && last.count < BATCH_SIZE) return last;
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

function pause(sent: BatchUnderWay, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, Math.min(milliseconds, MAX_PAUSE)).unref();
    sent.wake = resolve;
  });
}
