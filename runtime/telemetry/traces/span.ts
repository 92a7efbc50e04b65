import type { CallSpan } from "../../http/exchange-trace.ts";
import { type AttributeRuns, OtlpAttributes } from "../otlp/attributes.ts";
import type { ExportQueue } from "../otlp/export-queue.ts";
import type { HexId } from "../otlp/hex-id.ts";
import type { OtlpFormat } from "../otlp/otlp-format.ts";
import type { SpanHead, SpanKind } from "../otlp/span-head.ts";
import type { CalledServers } from "./called-servers.ts";
import type { SpanFilter } from "./filtered-spans.ts";
import { methodInName, methodName, otherMethod } from "./span-values.ts";
import { traceparent, traceparentLine } from "./trace-context.ts";

/** The format and destination of the spans of a process. */
export interface SpanOutput {
  readonly format: OtlpFormat;
  readonly runs: AttributeRuns;
  readonly queue: ExportQueue;
  readonly servers: CalledServers;
}

/** The trace of a request, for its calls. */
export interface CallingTrace {
  readonly traceId: HexId;
  readonly spanId: HexId;
  readonly flags: string;
  /** The recorded error of the request. */
  readonly error: string | undefined;
  /** Decides at the request's end whether its spans are exported; `undefined` if all are. */
  readonly filter: SpanFilter | undefined;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** Name and kind of a span. */
export interface OwnSpan {
  readonly name: string;
  readonly kind: SpanKind;
  /** Whether the request's error is also the span's. */
  readonly hasItsError: boolean;
}

/** The span of a call, which is queued when it ends. */
export class OpenSpan extends OtlpAttributes implements CallSpan, SpanHead {
  readonly isRecording = true;
  readonly spanId: HexId;
  readonly start: number;
  #name: string;
  readonly #kind: SpanKind;
  readonly #hasItsError: boolean;
  readonly #trace: CallingTrace;
  readonly #output: SpanOutput;
  #status = 0;
  #isOver = false;

  constructor(
    trace: CallingTrace,
    spanId: HexId,
    { name, kind, hasItsError }: OwnSpan,
    output: SpanOutput,
  ) {
    super(output.runs);
    this.spanId = spanId;
    this.start = trace.now();
    this.#name = name;
    this.#kind = kind;
    this.#hasItsError = hasItsError;
    this.#trace = trace;
    this.#output = output;
  }

  get traceId(): HexId {
    return this.#trace.traceId;
  }

  get parentId(): HexId {
    return this.#trace.spanId;
  }

  get flags(): string {
    return this.#trace.flags;
  }

  get traceparent(): string {
    return traceparent(this.traceId.text, this.spanId.text, this.flags);
  }

  get traceparentLine(): string {
    return traceparentLine(this.traceId.text, this.spanId.text, this.flags);
  }

  asks({ name, origin }: { name: string; origin: string }, method: string, path: string): void {
    const { address, port } = this.#output.servers.of(name);
    const query = path.indexOf("?");
    this.text("http.request.method", methodName(method));
    this.text("http.request.method_original", otherMethod(method));
    if (this.#name === method) this.#name = methodInName(method);
    this.joined("url.full", origin, query < 0 ? path : path.slice(0, query));
    this.text("server.address", address);
    this.number("server.port", port);
  }

  responded(status: number): void {
    this.number("http.response.status_code", status);
    this.#status = status;
  }

  completed(): void {
    const noted = this.#hasItsError ? this.#trace.error : undefined;
    this.end(this.#status >= 400 ? String(this.#status) : noted);
  }

  end(error?: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.text("error.type", error);
    const { filter } = this.#trace;
    const end = this.#trace.now();
    if (filter === undefined) this.#export(end, error);
    else filter.hold(() => this.#export(end, error));
  }

  #export(end: number, error: string | undefined): void {
    const { format, queue } = this.#output;
    const items = queue.room;
    if (items === undefined) return;
    format.span(items, this, this.#name, this.#kind, end, this, error);
    queue.added(items);
  }
}

/** The span of a call that begins while the queue is full. Its context is propagated as usual, but the span is dropped. */
export class LostSpan implements CallSpan {
  readonly isRecording = false;
  readonly #trace: CallingTrace;
  readonly #spanId: HexId;
  readonly #queue: ExportQueue;
  #isOver = false;

  constructor(trace: CallingTrace, spanId: HexId, queue: ExportQueue) {
    this.#trace = trace;
    this.#spanId = spanId;
    this.#queue = queue;
  }

  get traceparent(): string {
    return traceparent(this.#trace.traceId.text, this.#spanId.text, this.#trace.flags);
  }

  get traceparentLine(): string {
    return traceparentLine(this.#trace.traceId.text, this.#spanId.text, this.#trace.flags);
  }

  text(): void {}

  number(): void {}

  list(): void {}

  asks(): void {}

  responded(): void {}

  completed(): void {
    this.end();
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#queue.drop();
  }
}
