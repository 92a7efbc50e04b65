import type { CallSpan, ExchangeTrace } from "../exchange-trace.ts";
import { replaceHeader } from "../headers/header-list.ts";
import type { ReceivedFields } from "../http1/received-fields.ts";
import type {
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

/** Sends a request whose fields go on as lines in the span that was begun for it; none of them may be a `traceparent`. */
export function sendLinesInSpan(
  span: CallSpan,
  upstream: Upstream,
  send: NonNullable<Upstream["sendLines"]>,
  call: LinesCall,
  handler: UpstreamHandler,
): UpstreamRequest {
  describeTarget(span, upstream, call);
  const lines = `${call.lines}traceparent: ${span.traceparent}\r\n`;
  return sentInSpan(span, handler, (traced) => send({ ...call, lines }, traced));
}

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
  describeTarget(span, upstream, call);
}

/** By OpenTelemetry's conventions for HTTP clients. A query may hold a key, and is left out. */
function describeTarget(
  span: CallSpan,
  { name, origin }: Upstream,
  { method, path }: Pick<UpstreamCall, "method" | "path">,
): void {
  if (!span.isRecording) return;
  const colon = name.lastIndexOf(":");
  const query = path.indexOf("?");
  span.text("http.request.method", method);
  span.text("url.full", `${origin}${query < 0 ? path : path.slice(0, query)}`);
  span.text("server.address", name.slice(0, colon));
  span.number("server.port", Number(name.slice(colon + 1)));
}

/** Stands between a request and who wants its response, and sees how it ends. */
class TracedRequest<Handler extends UpstreamHandler> implements UpstreamHandler, UpstreamRequest {
  protected readonly span: CallSpan;
  protected readonly handler: Handler;
  #request: UpstreamRequest | undefined;
  #error: string | undefined;

  constructor(span: CallSpan, handler: Handler) {
    this.span = span;
    this.handler = handler;
  }

  started(request: UpstreamRequest): this {
    this.#request = request;
    return this;
  }

  onHead(status: number, headers: readonly string[]): void {
    this.#note(status);
    this.handler.onHead(status, headers);
  }

  onFields(status: number, fields: ReceivedFields): void {
    this.#note(status);
    if (this.handler.onFields === undefined) this.handler.onHead(status, fields.list);
    else this.handler.onFields(status, fields);
  }

  onData(chunk: Buffer): boolean {
    return this.handler.onData(chunk);
  }

  onEnd(trailers: readonly string[] | undefined): void {
    this.span.end(this.#error);
    this.handler.onEnd(trailers);
  }

  onError(failure: UpstreamFailure): void {
    this.span.end(failure.kind);
    this.handler.onError(failure);
  }

  abort(reason?: "timeout"): void {
    this.span.end("aborted");
    this.#request?.abort(reason);
  }

  resume(): void {
    this.#request?.resume();
  }

  #note(status: number): void {
    this.span.number("http.response.status_code", status);
    if (status >= 400) this.#error = String(status);
  }
}

class TracedUpgrade extends TracedRequest<UpgradeHandler> implements UpgradeHandler {
  onSwitch(headers: readonly string[], tunnel: UpstreamTunnel): void {
    this.span.number("http.response.status_code", 101);
    this.span.end();
    this.handler.onSwitch(headers, tunnel);
  }
}
