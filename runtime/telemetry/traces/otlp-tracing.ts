import type { Exchange } from "../../http/exchange.ts";
import type { CallSpan, ExchangeTrace } from "../../http/exchange-trace.ts";
import { AttributeRuns, OtlpAttributes } from "../otlp/attributes.ts";
import type { Collector } from "../otlp/collector.ts";
import { exportFigures } from "../otlp/export-metrics.ts";
import { ExportQueue } from "../otlp/export-queue.ts";
import { traceSignal } from "../otlp/otlp-format.ts";
import { type ResourceAttributes, resourceText } from "../otlp/resource.ts";
import { CLIENT, SERVER, type SpanHead } from "../otlp/span-head.ts";
import type { Sampling } from "./sampling.ts";
import { LostSpan, OpenSpan, type SpanOutput } from "./span.ts";
import { defaultAttributes, methodName, type SpanAttributes } from "./span-values.ts";
import { isRecorded, readTraceContext, type TraceContext } from "./trace-context.ts";
import { TraceIds } from "./trace-ids.ts";
import type { Tracer, Tracing } from "./tracing.ts";

/** What is traced, what spans say, and where they go. */
export interface TracingSettings {
  readonly collector: Collector;
  /** Of requests that belong to no trace yet. */
  readonly randomSampling: Sampling;
  /** Of requests whose sender records their trace. */
  readonly clientSampling: Sampling;
  /** What the spans of requests say; absent: the default attributes. */
  readonly attributes?: SpanAttributes;
  /** What the gateway says of itself beside what it always does; absent: nothing. */
  readonly resource?: ResourceAttributes;
  /** The paths of routes as patterns, by listener and route. */
  readonly paths: RoutePaths;
}

/** `{ shop: { catalogue: "/catalogue/*" } }` */
export type RoutePaths = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Traces requests as W3C Trace Context and OpenTelemetry say, and sends the spans to a collector over OTLP. */
export function otlpTracing(settings: TracingSettings): Tracing {
  const { collector, resource } = settings;
  const { format } = collector;
  return {
    open: (context) => {
      const { gateway, pending } = context;
      const described = resourceText(format, context, resource);
      const queue = new ExportQueue(
        "spans",
        collector.exporter(traceSignal, gateway),
        format.envelope(traceSignal, described),
        { figures: exportFigures(gateway.metrics, "traces"), warn: gateway.warn, pending },
      );
      const runs = new AttributeRuns(format.attributes("span"));
      return new OtlpTracer(settings, { format, runs, queue });
    },
  };
}

class OtlpTracer implements Tracer {
  readonly #settings: TracingSettings;
  readonly #ids = new TraceIds();
  readonly #options: TraceOptions;

  constructor(settings: TracingSettings, output: SpanOutput) {
    this.#settings = settings;
    const { attributes = defaultAttributes, paths } = settings;
    this.#options = { ids: this.#ids, output, attributes, paths };
  }

  begin(exchange: Exchange): void {
    const { randomSampling, clientSampling } = this.#settings;
    const isPart = exchange.header("traceparent") !== undefined;
    const parent = isPart ? readTraceContext(exchange.requestHeaders) : undefined;
    if (parent === undefined) {
      if (randomSampling(exchange)) this.#trace(exchange, undefined);
      return;
    }
    exchange.record.traceId = parent.traceId;
    // Who does not record a trace does not want spans of it.
    if (isRecorded(parent) && clientSampling(exchange)) this.#trace(exchange, parent);
  }

  #trace(exchange: Exchange, parent: TraceContext | undefined): void {
    const { record } = exchange;
    const ids = this.#ids;
    const head: RequestHead = {
      traceId: parent?.traceId ?? ids.traceId(),
      spanId: ids.spanId(),
      parentId: parent?.spanId,
      flags: parent?.flags ?? "01",
      start: exchange.startTime,
    };
    // A state belongs to the context beside it (3.3).
    if (parent === undefined && exchange.header("tracestate") !== undefined)
      exchange.removeRequestHeader("tracestate");
    record.traceId = head.traceId;
    record.spanId = head.spanId;
    exchange.trace = new RequestTrace(exchange, head, this.#options);
  }
}

/** What is known of a request's span when it begins. */
type RequestHead = Omit<SpanHead, "name" | "kind">;

interface TraceOptions {
  readonly ids: TraceIds;
  readonly output: SpanOutput;
  readonly attributes: SpanAttributes;
  readonly paths: RoutePaths;
}

/** The span of a request, and those of its calls. */
class RequestTrace implements ExchangeTrace {
  readonly #exchange: Exchange;
  readonly #head: RequestHead;
  readonly #options: TraceOptions;
  /** Steps of the system's clock don't show within a trace. */
  readonly #started = performance.now();

  constructor(exchange: Exchange, head: RequestHead, options: TraceOptions) {
    this.#exchange = exchange;
    this.#head = head;
    this.#options = options;
  }

  beginCall(name: string): CallSpan {
    const { traceId, spanId: parentId, flags } = this.#head;
    const { ids, output } = this.#options;
    const spanId = ids.spanId();
    if (output.queue.isFull) return new LostSpan({ traceId, spanId, flags }, output.queue);
    const start = this.#now();
    const head = { traceId, spanId, parentId, flags, name, kind: CLIENT, start };
    return new OpenSpan(head, output, () => this.#now());
  }

  end(status: number | undefined): void {
    const { attributes, output, paths } = this.#options;
    const { format, queue } = output;
    if (queue.isFull) {
      queue.drop();
      return;
    }
    const { record, original } = this.#exchange;
    const route = paths[record.listener ?? ""]?.[record.route ?? ""];
    const span = new OtlpAttributes(output.runs);
    attributes(span, this.#exchange, status, route);
    const isFault = status !== undefined && status >= 500;
    const error = isFault ? (record.reason ?? String(status)) : undefined;
    span.text("error.type", error);
    const method = methodName(original.method);
    const name = route === undefined ? method : `${method} ${route}`;
    const ended = this.#now();
    queue.add((items) => format.span(items, this.#head, name, SERVER, ended, span, error));
  }

  #now(): number {
    return this.#head.start + performance.now() - this.#started;
  }
}
