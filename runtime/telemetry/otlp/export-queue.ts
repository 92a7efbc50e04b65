import { SECOND } from "../../process/units.ts";
import type { ExportFigures } from "./export-metrics.ts";

/** Sends items to a collector. */
export interface Exporter {
  /** Where it sends them, for the log. */
  readonly name: string;
  /** Resolves in any case, after some seconds at most. */
  send(items: readonly string[]): Promise<ExportResult>;
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
/** Items, and characters of them, that wait; what comes then is dropped and counted. */
const maxItems = 2048;
const maxCharacters = 8 * 1024 * 1024;
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
  readonly #context: ExportContext;
  #items: string[] = [];
  #characters = 0;
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #isEnding = false;
  /** Ends the pause before another try. */
  #wake: (() => void) | undefined;
  #nextWarning = 0;

  /** `what`: what the items are, for the log: `spans`. */
  constructor(what: string, exporter: Exporter, context: ExportContext) {
    this.#what = what;
    this.#exporter = exporter;
    this.#context = context;
  }

  add(item: string): void {
    const isFull = this.#items.length >= maxItems || this.#characters + item.length > maxCharacters;
    if (isFull) {
      this.#context.figures.dropped.value += 1;
      this.#warn("its queue is full");
      return;
    }
    this.#items.push(item);
    this.#characters += item.length;
    this.#context.pending.add(this);
    if (this.#items.length >= batchSize) this.#start();
    else this.#wait(batchDelay);
  }

  /** Sends what is there, once, and resolves when that has ended: nothing more will come. */
  async flush(): Promise<void> {
    this.#isEnding = true;
    this.#wake?.();
    while (this.#items.length > 0) await this.#start();
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
    this.#sending ??= this.#send(this.#take(batchSize)).finally(() => {
      this.#sending = undefined;
      if (this.#items.length >= batchSize) void this.#start();
      else if (this.#items.length > 0) this.#wait(batchDelay);
      else this.#context.pending.delete(this);
    });
    return this.#sending;
  }

  async #send(batch: readonly string[]): Promise<void> {
    for (let tries = 1; ; tries++) {
      const result = await this.#exporter.send(batch);
      if (result.kind === "taken") {
        this.#context.figures.exported.value += batch.length - result.rejected;
        if (result.rejected > 0) this.#lose(result.rejected, result.detail);
        return;
      }
      if (result.kind === "refused" || tries === maxTries || this.#isEnding) {
        this.#drop(batch, result.detail);
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

  #take(count: number): readonly string[] {
    const taken = this.#items.splice(0, count);
    for (const item of taken) this.#characters -= item.length;
    return taken;
  }

  #drop(batch: readonly string[], detail: string): void {
    if (batch.length > 0) this.#lose(batch.length, detail);
  }

  #lose(count: number, detail: string): void {
    this.#context.figures.dropped.value += count;
    this.#warn(detail);
  }

  #warn(detail: string): void {
    const now = performance.now();
    if (now < this.#nextWarning) return;
    this.#nextWarning = now + warnInterval;
    const { dropped } = this.#context.figures;
    this.#context.warn(
      `${this.#what} do not reach ${this.#exporter.name}: ${detail} (${dropped.value} dropped so far)`,
    );
  }
}
