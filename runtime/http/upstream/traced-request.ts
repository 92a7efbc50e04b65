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

/** Sends a request that an exchange causes; where the exchange is traced, in a span of its own. */
export function sendTraced(
  trace: ExchangeTrace | undefined,
  upstream: Upstream,
  call: UpstreamCall,
  handler: UpstreamHandler,
): UpstreamRequest {
  return sendInSpan(trace?.beginCall(call.method), upstream, call, handler);
}

/** Sends a request in the span that was begun for it; undefined: it has none. */
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

/** The span ends with the request; one that is not recorded has nothing to wait for. */
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

/** The same with fields that go on as lines (`tracedLines`). */
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

/** Lines of a request's headers that say which span they are of, in the place of what came. */
export function tracedLines(
  { mayHaveTraceContext }: Pick<Exchange, "mayHaveTraceContext">,
  lines: string,
  span: CallSpan,
): string {
  return (mayHaveTraceContext ? withoutLines(lines, contextLines) : lines) + span.traceparentLine;
}

const contextLines = new HeaderNames(["traceparent"]);

/** Asks for another protocol in the same way: the span ends when the upstream has agreed, or not. */
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

/** The call says which span it is, and the span what is called. */
export function describeCall(span: CallSpan, upstream: Upstream, call: UpstreamCall): void {
  replaceHeader(call.headers, "traceparent", span.traceparent);
  span.asks(upstream, call.method, call.path);
}

/** Stands between a request and who wants its response, and sees how it ends. */
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

  get holdsNothing(): boolean {
    return this.handler.holdsNothing === true;
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
