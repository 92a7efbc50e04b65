import type { Borrower } from "../../net/socket-reads.ts";
import type { Exchange } from "../exchange.ts";
import type { CallSpan, ExchangeTrace } from "../exchange-trace.ts";
import { HeaderNames, withoutLines } from "../headers/header-lines.ts";
import { replaceHeader } from "../headers/header-list.ts";
import type { ReceivedFields } from "../http1/received-fields.ts";
import { deliverHead } from "./counted-request.ts";
import type {
  AbortReason,
  LinesCall,
  UpgradeHandler,
  Upstream,
  UpstreamCall,
  UpstreamFailure,
  UpstreamHandler,
  UpstreamRequest,
  UpstreamTunnel,
} from "./upstream.ts";

/** Sends a request that an exchange causes; in a span of its own if the exchange is traced. */
export function sendTraced(
  trace: ExchangeTrace | undefined,
  upstream: Upstream,
  call: UpstreamCall,
  handler: UpstreamHandler,
): UpstreamRequest {
  return sendInSpan(trace?.beginCall(call.method), upstream, call, handler);
}

/** Sends a request in the span that was started for it; `undefined` without a span. */
export function sendInSpan(
  span: CallSpan | undefined,
  upstream: Upstream,
  call: UpstreamCall,
  handler: UpstreamHandler,
): UpstreamRequest {
  if (span === undefined) return upstream.send(call, handler);
  describeCall(span, upstream, call);
  return sentInSpan(span, handler, (traced) => upstream.send(call, traced));
}

/** Ends the span with the request. A span that is not recorded has nothing to wait for. */
function sentInSpan(
  span: CallSpan,
  handler: UpstreamHandler,
  send: (handler: UpstreamHandler) => UpstreamRequest,
): UpstreamRequest {
  if (!span.isRecording) {
    span.end();
    return send(handler);
  }
  const traced = new TracedRequest(span, handler);
  return traced.started(send(traced));
}

/** Sends a request with formatted fields (`tracedLines`). */
export function sendLinesInSpan(
  span: CallSpan | undefined,
  upstream: Upstream,
  send: NonNullable<Upstream["sendLines"]>,
  call: LinesCall,
  handler: UpstreamHandler,
): UpstreamRequest {
  if (span === undefined) return send(call, handler);
  span.asks(upstream, call.method, call.path);
  return sentInSpan(span, handler, (traced) => send(call, traced));
}

/** Replaces trace headers in formatted fields by those of the span. */
export function tracedLines(
  { mayHaveTraceContext }: Pick<Exchange, "mayHaveTraceContext">,
  lines: string,
  span: CallSpan,
): string {
  return (mayHaveTraceContext ? withoutLines(lines, contextLines) : lines) + span.traceparentLine;
}

const contextLines = new HeaderNames(["traceparent"]);

/** Requests another protocol in the same way. The span ends once the upstream has agreed or refused. */
export function upgradeTraced(
  trace: ExchangeTrace | undefined,
  upstream: Upstream,
  call: UpstreamCall,
  protocol: string,
  handler: UpgradeHandler,
): UpstreamRequest {
  if (trace === undefined) return upstream.upgrade(call, protocol, handler);
  const span = trace.beginCall(call.method);
  describeCall(span, upstream, call);
  const traced = new TracedUpgrade(span, handler);
  return traced.started(upstream.upgrade(call, protocol, traced));
}

/** Adds the span to the call's headers, and the call to the span. */
export function describeCall(span: CallSpan, upstream: Upstream, call: UpstreamCall): void {
  replaceHeader(call.headers, "traceparent", span.traceparent);
  span.asks(upstream, call.method, call.path);
}

/** Observes the response to a request and ends its span. */
class TracedRequest<Handler extends UpstreamHandler> implements UpstreamHandler, UpstreamRequest {
  protected readonly span: CallSpan;
  protected readonly handler: Handler;
  #request: UpstreamRequest | undefined;

  constructor(span: CallSpan, handler: Handler) {
    this.span = span;
    this.handler = handler;
  }

  started(request: UpstreamRequest): this {
    this.#request = request;
    return this;
  }

  onHead(status: number, headers: readonly string[]): void {
    this.span.responded(status);
    this.handler.onHead(status, headers);
  }

  onFields(status: number, fields: ReceivedFields): void {
    this.span.responded(status);
    deliverHead(this.handler, status, fields);
  }

  onData(chunk: Buffer): boolean {
    return this.handler.onData(chunk);
  }

  get borrower(): Borrower | undefined {
    return this.handler.borrower;
  }

  onEnd(trailers: readonly string[] | undefined): void {
    this.span.completed();
    this.handler.onEnd(trailers);
  }

  onError(failure: UpstreamFailure): void {
    this.span.end(failure.kind);
    this.handler.onError(failure);
  }

  abort(reason?: AbortReason): void {
    if (reason === "discarded") this.span.completed();
    else this.span.end(reason ?? "aborted");
    this.#request?.abort(reason);
  }

  resume(): void {
    this.#request?.resume();
  }
}

class TracedUpgrade extends TracedRequest<UpgradeHandler> implements UpgradeHandler {
  onSwitch(headers: readonly string[], tunnel: UpstreamTunnel): void {
    this.span.number("http.response.status_code", 101);
    this.span.end();
    this.handler.onSwitch(headers, tunnel);
  }
}
