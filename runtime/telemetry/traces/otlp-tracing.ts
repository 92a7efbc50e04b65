import {
  type Exchange,
  type ExchangeRecord,
  logFields,
  type RefusalReason,
} from "../../http/exchange.ts";
import type { CallSpan, ExchangeTrace } from "../../http/exchange-trace.ts";
import { AttributeRuns, OtlpAttributes } from "../otlp/attributes.ts";
import type { Collector } from "../otlp/collector.ts";
import { exportFigures } from "../otlp/export-metrics.ts";
import { ExportQueue } from "../otlp/export-queue.ts";
import { type HexId, hexId } from "../otlp/hex-id.ts";
import { traceSignal } from "../otlp/otlp-format.ts";
import { type ResourceAttributes, resourceText } from "../otlp/resource.ts";
import { SERVER, type SpanHead } from "../otlp/span-head.ts";
import { CalledServers } from "./called-servers.ts";
import type { Sampling } from "./sampling.ts";
import { type CallingTrace, LostSpan, OpenSpan, type SpanOutput } from "./span.ts";
import { SpanNames } from "./span-names.ts";
import { defaultAttributes, methodInName, type SpanAttributes } from "./span-values.ts";
import {
  isRecorded,
  isState,
  parseTraceparent,
  readTraceContext,
  type TraceContext,
} from "./trace-context.ts";
import { TraceIds } from "./trace-ids.ts";
import type { SentContext, Tracer, Tracing } from "./tracing.ts";

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
  let tracer: OtlpTracer | undefined;
  return {
    continueTrace: (exchange, sent) => tracer?.continueTrace(exchange, sent),
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
      tracer = new OtlpTracer(settings, { format, runs, queue, servers: new CalledServers() });
      return tracer;
    },
  };
}

class OtlpTracer implements Tracer {
  readonly #settings: TracingSettings;
  readonly #options: TraceOptions;

  constructor(settings: TracingSettings, output: SpanOutput) {
    this.#settings = settings;
    const { attributes = defaultAttributes, paths } = settings;
    this.#options = {
      ids: new TraceIds(),
      names: new SpanNames(),
      written: new OtlpAttributes(output.runs),
      output,
      attributes,
      paths,
    };
  }

  begin(exchange: Exchange): void {
    const parent = exchange.mayHaveTraceContext ? readTraceContext(exchange) : undefined;
    if (parent !== undefined) this.#join(exchange, parent);
    else if (this.#settings.randomSampling(exchange)) this.#trace(exchange, undefined);
  }

  continueTrace(exchange: Exchange, { traceparent, tracestate }: SentContext): void {
    if (exchange.header("traceparent") !== undefined) return;
    const parent = parseTraceparent(traceparent);
    if (parent === undefined) return;
    const { trace } = exchange;
    if (trace instanceof RequestTrace && trace.hasCalls) {
      // Other servers know it as it is.
      if (isRecorded(parent)) trace.link = parent;
      return;
    }
    exchange.trace = undefined;
    exchange.record.spanId = undefined;
    if (tracestate !== undefined && isState(tracestate)) {
      exchange.setRequestHeader("tracestate", tracestate);
    }
    this.#join(exchange, parent);
  }

  #join(exchange: Exchange, parent: TraceContext): void {
    exchange.record.traceId = parent.traceId;
    // Who does not record a trace does not want spans of it.
    if (isRecorded(parent) && this.#settings.clientSampling(exchange)) {
      this.#trace(exchange, parent);
    }
  }

  #trace(exchange: Exchange, parent: TraceContext | undefined): void {
    // A state belongs to the context beside it (3.3).
    if (parent === undefined && exchange.mayHaveTraceContext) dropState(exchange);
    const trace = new RequestTrace(exchange, parent, this.#options);
    const { record } = exchange;
    record.traceId = trace.traceId.text;
    record.spanId = trace.spanId.text;
    exchange.trace = trace;
  }
}

function dropState(exchange: Exchange): void {
  if (exchange.header("tracestate") !== undefined) exchange.removeRequestHeader("tracestate");
}

interface TraceOptions {
  readonly ids: TraceIds;
  readonly names: SpanNames;
  /** Those of the span that ends: one at a time. */
  readonly written: OtlpAttributes;
  readonly output: SpanOutput;
  readonly attributes: SpanAttributes;
  readonly paths: RoutePaths;
}

/** The span of a request, and those of its calls. */
class RequestTrace implements ExchangeTrace, SpanHead, CallingTrace {
  readonly traceId: HexId;
  readonly spanId: HexId;
  readonly parentId: HexId | undefined;
  readonly flags: string;
  readonly start: number;
  /** Calls are a part of it. */
  hasCalls = false;
  /** What the client says of its own trace, when it came too late. */
  link: TraceContext | undefined;
  readonly #exchange: Exchange;
  readonly #options: TraceOptions;

  constructor(exchange: Exchange, parent: TraceContext | undefined, options: TraceOptions) {
    const { ids } = options;
    this.traceId = parent === undefined ? ids.traceId() : hexId(parent.traceId);
    this.spanId = ids.spanId();
    this.parentId = parent === undefined ? undefined : hexId(parent.spanId);
    this.flags = parent === undefined ? "01" : parent.flags;
    this.start = exchange.startTime;
    this.#exchange = exchange;
    this.#options = options;
  }

  /** What was noted of its failure. */
  get error(): string | undefined {
    return this.#exchange.record.fields?.get("error.type");
  }

  beginCall(name: string, hasItsError = false): CallSpan {
    const { ids, output } = this.#options;
    const spanId = ids.spanId();
    const { queue } = output;
    this.hasCalls = true;
    return queue.isFull
      ? new LostSpan(this, spanId, queue)
      : new OpenSpan(this, spanId, { name, hasItsError }, output);
  }

  end(status: number | undefined, duration: number): void {
    const { attributes, names, output, paths, written } = this.#options;
    const { format, queue } = output;
    const items = queue.room;
    if (items === undefined) return;
    const { record, original } = this.#exchange;
    const route = paths[record.listener ?? ""]?.[record.route ?? ""];
    const error = errorOf(record, status);
    if (error !== undefined) logFields(record).set("error.type", error);
    written.clear();
    attributes(written, this.#exchange, status, route);
    const name = names.of(methodInName(original.method), route);
    format.span(items, this, name, SERVER, this.start + duration, written, error);
    queue.added(items);
  }

  now(): number {
    // Steps of the system's clock don't show within a trace.
    return this.start + performance.now() - this.#exchange.started;
  }
}

/** Why a response is not complete that has begun. */
const FAULTS: ReadonlySet<RefusalReason> = new Set([
  "UpstreamFailure",
  "Timeout",
  "Draining",
  "Internal",
]);

/** What went wrong here or behind the gateway, of few values; a status from 400 to 499 is the client's fault. */
function errorOf(
  { reason, fields }: ExchangeRecord,
  status: number | undefined,
): string | undefined {
  if (status === undefined || (status >= 400 && status < 500)) return undefined;
  const noted = fields?.get("error.type");
  if (noted !== undefined) return noted;
  if (status >= 500) return reason ?? String(status);
  return reason !== undefined && FAULTS.has(reason) ? reason : undefined;
}
