import type { CallSpan } from "../../http/exchange-trace.ts";
import { jsonValue } from "../logs/log-line.ts";
import { type AttributeTexts, OtlpAttributes } from "../otlp/attributes.ts";
import { type TraceContext, traceparent } from "./trace-context.ts";

/** What a span is besides its attributes and its end. Times in milliseconds since the epoch, with fractions. */
export interface SpanHead extends TraceContext {
  /** The span that it is a part of; undefined: a trace begins with it. */
  readonly parentId: string | undefined;
  readonly name: string;
  readonly kind: SpanKind;
  readonly start: number;
}

/** Who a span is about: this server, or another one that it calls (OTLP's numbers). */
export type SpanKind = 2 | 3;
/** A request that is served. */
export const SERVER: SpanKind = 2;
/** A request to another server. */
export const CLIENT: SpanKind = 3;

/** A span as JSON of OTLP. `attributes`: the list; `error`: what went wrong; undefined: nothing. */
export function spanJson(
  { traceId, spanId, parentId, flags, name, kind, start }: SpanHead,
  end: number,
  attributes: string,
  error: string | undefined,
): string {
  const parent = parentId === undefined ? "" : `"parentSpanId":"${parentId}",`;
  const status = error === undefined ? "{}" : `{"code":2,"message":${jsonValue(error)}}`;
  return (
    `{"traceId":"${traceId}","spanId":"${spanId}",${parent}"flags":${flags === "01" ? 1 : Number.parseInt(flags, 16)},` +
    `"name":${jsonValue(name)},"kind":${kind},"startTimeUnixNano":"${nanoseconds(start)}",` +
    `"endTimeUnixNano":"${nanoseconds(end)}","attributes":${attributes},"status":${status}}`
  );
}

/** More digits than a number holds: microseconds are exact, and the rest are zeros. */
export function nanoseconds(milliseconds: number): string {
  return `${Math.floor(milliseconds * 1000)}000`;
}

/** The span of a call, which goes to the queue when it ends. */
export class OpenSpan implements CallSpan {
  readonly #head: SpanHead;
  readonly #now: () => number;
  readonly #queue: (span: string) => void;
  readonly #attributes: OtlpAttributes;
  #isOver = false;

  /** `now`: the clock of the trace, in the unit of its spans. */
  constructor(
    head: SpanHead,
    texts: AttributeTexts,
    now: () => number,
    queue: (span: string) => void,
  ) {
    this.#attributes = new OtlpAttributes(texts);
    this.#head = head;
    this.#now = now;
    this.#queue = queue;
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

  end(error?: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.text("error.type", error);
    this.#queue(spanJson(this.#head, this.#now(), this.#attributes.list, error));
  }
}
