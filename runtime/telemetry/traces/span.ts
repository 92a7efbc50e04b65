import type { CallSpan } from "../../http/exchange-trace.ts";
import { jsonValue } from "../logs/log-line.ts";
import { AttributeTexts, OtlpAttributes } from "../otlp/attributes.ts";
import { NanosecondText } from "../otlp/nanoseconds.ts";
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

/** How spans of a process are written: what comes again is kept. */
export class SpanTexts {
  readonly attributes = new AttributeTexts();
  readonly #times = new NanosecondText();

  /** A span as JSON of OTLP. `name`: its own; `attributes`: the list; `error`: what went wrong; undefined: nothing. */
  span(
    { traceId, spanId, parentId, flags, start }: Omit<SpanHead, "name" | "kind">,
    name: string,
    kind: SpanKind,
    end: number,
    attributes: string,
    error: string | undefined,
  ): string {
    const parent = parentId === undefined ? "" : `"parentSpanId":"${parentId}",`;
    const status = error === undefined ? "{}" : `{"code":2,"message":${jsonValue(error)}}`;
    return (
      `{"traceId":"${traceId}","spanId":"${spanId}",${parent}` +
      `"flags":${flags === "01" ? 1 : Number.parseInt(flags, 16)},` +
      `"name":${this.attributes.quoted(name)},"kind":${kind},` +
      `"startTimeUnixNano":"${this.#times.format(start)}","endTimeUnixNano":"${this.#times.format(end)}",` +
      `"attributes":${attributes},"status":${status}}`
    );
  }
}

/** The span of a call, which goes to the queue when it ends. */
export class OpenSpan implements CallSpan {
  readonly #head: SpanHead;
  readonly #now: () => number;
  readonly #queue: (span: string) => void;
  readonly #texts: SpanTexts;
  readonly #attributes: OtlpAttributes;
  #isOver = false;

  /** `now`: the clock of the trace, in the unit of its spans. */
  constructor(head: SpanHead, texts: SpanTexts, now: () => number, queue: (span: string) => void) {
    this.#texts = texts;
    this.#attributes = new OtlpAttributes(texts.attributes);
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

  list(name: string, values: readonly string[] | undefined): void {
    if (values !== undefined) this.#attributes.json(name, JSON.stringify(values));
  }

  end(error?: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.text("error.type", error);
    const { name, kind } = this.#head;
    const { list } = this.#attributes;
    this.#queue(this.#texts.span(this.#head, name, kind, this.#now(), list, error));
  }
}
