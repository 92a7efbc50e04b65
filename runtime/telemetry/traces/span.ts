import type { CallSpan } from "../../http/exchange-trace.ts";
import { type AttributeRuns, OtlpAttributes } from "../otlp/attributes.ts";
import type { ExportQueue } from "../otlp/export-queue.ts";
import type { OtlpFormat } from "../otlp/otlp-format.ts";
import type { SpanHead } from "../otlp/span-head.ts";
import { type TraceContext, traceparent } from "./trace-context.ts";

/** How the spans of a process are written, and where they go. */
export interface SpanOutput {
  readonly format: OtlpFormat;
  readonly runs: AttributeRuns;
  readonly queue: ExportQueue;
}

/** The span of a call, which goes to the queue when it ends. */
export class OpenSpan implements CallSpan {
  readonly isRecording = true;
  readonly #head: SpanHead;
  readonly #now: () => number;
  readonly #output: SpanOutput;
  readonly #attributes: OtlpAttributes;
  #isOver = false;

  /** `now`: the clock of the trace, in the unit of its spans. */
  constructor(head: SpanHead, output: SpanOutput, now: () => number) {
    this.#output = output;
    this.#attributes = new OtlpAttributes(output.runs);
    this.#head = head;
    this.#now = now;
  }

  get traceparent(): string {
    return traceparent(this.#head);
  }

  text(name: string, value: string | undefined): void {
    this.#attributes.text(name, value);
  }

  number(name: string, value: number | undefined): void {
    this.#attributes.number(name, value);
  }

  list(name: string, values: readonly string[] | undefined): void {
    this.#attributes.list(name, values);
  }

  end(error?: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.text("error.type", error);
    const { name, kind } = this.#head;
    const { format, queue } = this.#output;
    const end = this.#now();
    queue.add((items) => format.span(items, this.#head, name, kind, end, this.#attributes, error));
  }
}

/** The span of a call that begins while the queue is full: it is passed on as any other, says nothing, and is dropped. */
export class LostSpan implements CallSpan {
  readonly isRecording = false;
  readonly #context: TraceContext;
  readonly #queue: ExportQueue;
  #isOver = false;

  constructor(context: TraceContext, queue: ExportQueue) {
    this.#context = context;
    this.#queue = queue;
  }

  get traceparent(): string {
    return traceparent(this.#context);
  }

  text(): void {}

  number(): void {}

  list(): void {}

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#queue.drop();
  }
}
