import { randomBytes } from "node:crypto";
import {
  type Exchange,
  type ExchangeRecord,
  logFields,
  type RefusalReason,
} from "../../http/exchange.ts";
import type { CallSpan, ExchangeTrace } from "../../http/exchange-trace.ts";
import type { MessageCapture } from "../message-capture.ts";
import { AttributeRuns, OtlpAttributes } from "../otlp/attributes.ts";
import type { Collector } from "../otlp/collector.ts";
import { exportFigures } from "../otlp/export-metrics.ts";
import { ExportQueue } from "../otlp/export-queue.ts";
import { type HexId, hexId } from "../otlp/hex-id.ts";
import { viewOf } from "../otlp/item-buffer.ts";
import { traceSignal } from "../otlp/otlp-format.ts";
import { type ResourceAttributes, resourceText } from "../otlp/resource.ts";
import { CLIENT, INTERNAL, SERVER, type SpanHead } from "../otlp/span-head.ts";
import { CalledServers } from "./called-servers.ts";
import type { SpanFilter } from "./filtered-spans.ts";
import type { Sampling } from "./sampling.ts";
import { type CallingTrace, LostSpan, OpenSpan, type OwnSpan, type SpanOutput } from "./span.ts";
import { defaultAttributes, methodInName, type SpanAttributes } from "./span-values.ts";
import {
  isRecorded,
  isState,
  parseTraceparent,
  readTraceContext,
  type TraceContext,
} from "./trace-context.ts";
import type { SentContext, Tracer, Tracing } from "./tracing.ts";

/** The sampling, attributes and destination of spans. */
export interface TracingSettings {
  readonly collector: Collector;
  /** The sampling of requests without a trace. */
  readonly randomSampling: Sampling;
  /** The sampling of requests whose sender records their trace. */
  readonly clientSampling: Sampling;
  /** Opens the filter of a request's spans; absent if all are exported. */
  readonly filter?: (exchange: Exchange) => SpanFilter;
  /** The attributes of request spans; absent for the default ones. */
  readonly attributes?: SpanAttributes;
  /** Captures the messages of calls to models in request spans; absent if they are not captured. */
  readonly messages?: MessageCapture;
  /** Additional resource attributes; absent for only the built-in ones. */
  readonly resource?: ResourceAttributes;
  /** The path patterns of routes, by listener and route. */
  readonly paths: RoutePaths;
}

/** `{ shop: { catalogue: "/catalogue/*" } }` */
export type RoutePaths = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Traces requests by W3C Trace Context and OpenTelemetry, and exports the spans to a collector over OTLP. */
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
    const { attributes = defaultAttributes, filter, messages, paths } = settings;
    this.#options = {
      ids: new TraceIds(),
      names: new SpanNames(),
      written: new OtlpAttributes(output.runs),
      output,
      attributes,
      filter,
      messages,
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
      // Other servers already know the current trace.
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
    // A sender that does not record its trace wants no spans of it.
    if (isRecorded(parent) && this.#settings.clientSampling(exchange)) {
      this.#trace(exchange, parent);
    }
  }

  #trace(exchange: Exchange, parent: TraceContext | undefined): void {
    // A tracestate belongs to the traceparent that was sent with it (3.3).
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
  /** The attributes of the span that is ending; reused, as only one ends at a time. */
  readonly written: OtlpAttributes;
  readonly output: SpanOutput;
  readonly attributes: SpanAttributes;
  readonly filter: TracingSettings["filter"];
  readonly messages: MessageCapture | undefined;
  readonly paths: RoutePaths;
}

/** The span of a request and of its calls. */
class RequestTrace implements ExchangeTrace, SpanHead, CallingTrace {
  readonly traceId: HexId;
  readonly spanId: HexId;
  readonly parentId: HexId | undefined;
  readonly flags: string;
  readonly start: number;
  /** Whether the request has made calls in this trace. */
  hasCalls = false;
  /** The client's own trace context, if it was found after the first call. */
  link: TraceContext | undefined;
  readonly filter: SpanFilter | undefined;
  readonly #exchange: Exchange;
  readonly #options: TraceOptions;

  constructor(exchange: Exchange, parent: TraceContext | undefined, options: TraceOptions) {
    const { ids } = options;
    this.traceId = parent === undefined ? ids.traceId() : hexId(parent.traceId);
    this.spanId = ids.spanId();
    this.parentId = parent === undefined ? undefined : hexId(parent.spanId);
    this.flags = parent === undefined ? "01" : parent.flags;
    this.start = exchange.startTime;
    this.filter = options.filter?.(exchange);
    this.#exchange = exchange;
    this.#options = options;
  }

  /** The recorded error of the request. */
  get error(): string | undefined {
    return this.#exchange.record.fields?.get("error.type");
  }

  beginCall(name: string, hasItsError = false): CallSpan {
    return this.#begin({ name, hasItsError, kind: CLIENT });
  }

  beginStep(name: string): CallSpan {
    return this.#begin({ name, hasItsError: false, kind: INTERNAL });
  }

  #begin(own: OwnSpan): CallSpan {
    const { ids, output } = this.#options;
    const spanId = ids.spanId();
    const { queue } = output;
    this.hasCalls = true;
    return queue.isFull
      ? new LostSpan(this, spanId, queue)
      : new OpenSpan(this, spanId, own, output);
  }

  end(status: number | undefined, duration: number): void {
    const { attributes, messages, names, output, paths, written } = this.#options;
    const { format, queue } = output;
    if (this.filter?.decide(status) === false) return;
    const items = queue.room;
    if (items === undefined) return;
    const { record, original } = this.#exchange;
    const route = paths[record.listener ?? ""]?.[record.route ?? ""];
    const error = errorOf(record, status);
    if (error !== undefined) logFields(record).set("error.type", error);
    written.clear();
    attributes(written, this.#exchange, status, route);
    messages?.write(written, this.#exchange, status);
    const name = names.of(methodInName(original.method), route);
    format.span(items, this, name, SERVER, this.start + duration, written, error);
    queue.added(items);
  }

  now(): number {
    // Monotonic, so that adjustments of the system clock do not show within a trace.
    return this.start + performance.now() - this.#exchange.started;
  }
}

/** Reasons for which a response that has begun is incomplete. */
const FAULTS: ReadonlySet<RefusalReason> = new Set([
  "UpstreamFailure",
  "Timeout",
  "Draining",
  "Internal",
]);

/**
 * Returns the error of the gateway or its upstreams, one of few values; `undefined` for a status from 400 to 499, which is
 * the client's error.
 */
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

/** Number of random bytes per system call: one call per id would cost more than the span. */
const SUPPLY = 16_384;

/** Generates random ids. */
class TraceIds {
  #bytes = viewOf(Buffer.alloc(0));
  #text = "";
  #digits = this.#bytes;
  #at = 0;

  /** Returns an id of 32 hex digits. */
  traceId(): HexId {
    return this.#take(32);
  }

  /** Returns an id of 16 hex digits. */
  spanId(): HexId {
    return this.#take(16);
  }

  #take(count: number): HexId {
    if (this.#at + count > this.#digits.byteLength) this.#refill();
    const digits = this.#digits;
    const at = this.#at;
    this.#at += count;
    // All-zero ids are invalid (W3C Trace Context 3.2.2.3).
    if (areZeros(digits, at, at + count)) return this.#take(count);
    return { text: this.#text.slice(at, at + count), digits, at, bytes: this.#bytes };
  }

  /** Replaces the buffers; open spans still refer to the previous ones. */
  #refill(): void {
    const bytes = randomBytes(SUPPLY);
    this.#bytes = viewOf(bytes);
    this.#text = bytes.toString("hex");
    this.#digits = viewOf(Buffer.from(this.#text, "latin1"));
    this.#at = 0;
  }
}

function areZeros(digits: DataView, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (digits.getUint8(i) !== 0x30) return false;
  return true;
}

/** Maximum number of cached methods per route. */
const MAX_METHODS = 16;

/** The names of request spans, as one string object for all spans with the same name. */
class SpanNames {
  readonly #byRoute = new Map<string, Map<string, string>>();

  /** Returns `GET /items/*`, or the method for a request without a route. */
  of(method: string, route: string | undefined): string {
    if (route === undefined) return method;
    let names = this.#byRoute.get(route);
    if (names === undefined) {
      names = new Map();
      this.#byRoute.set(route, names);
    }
    const known = names.get(method);
    if (known !== undefined) return known;
    const name = `${method} ${route}`;
    if (names.size < MAX_METHODS) names.set(method, name);
    return name;
  }
}
