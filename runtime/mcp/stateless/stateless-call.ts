import type { Exchange } from "../../http/exchange.ts";
import { sendInSpan } from "../../http/upstream/traced-request.ts";
import type { UpstreamHandler, UpstreamRequest } from "../../http/upstream/upstream.ts";
import { stringAt } from "../../json/json-text.ts";
import { encodeHeader } from "../protocol/header-names.ts";
import type { Message } from "../protocol/message.ts";
import { paramOf } from "../protocol/message-edit.ts";
import { NAMED_PARAMS } from "../protocol/methods.ts";
import { isParamHeader } from "../protocol/param-headers.ts";
import { STATELESS_REVISION } from "../protocol/revisions.ts";
import type { TargetFailure } from "../protocol/target-failure.ts";
import { beginMcpCall, textWithTrace } from "../transports/call-span.ts";
import { type CallSender, HttpCall } from "../transports/http-call.ts";
import { noteTargetEra } from "../transports/noted-eras.ts";
import type { Call, CallSink, StreamableHttpTarget } from "../transports/target.ts";
import { headersForTarget } from "../transports/upstream-headers.ts";
import { isDoubtful } from "./response-status.ts";

/**
 * Sends one message of revision 2026-07-28 to an HTTP target, with the headers that describe it. `paramHeaders`: the
 * headers that repeat arguments, as a flat list; absent if the client has sent them itself.
 */
export function callStateless(
  exchange: Exchange,
  target: StreamableHttpTarget,
  limit: number,
  message: Message,
  sink: CallSink,
  paramHeaders?: readonly string[],
): Call {
  noteTargetEra(exchange, "stateless");
  const sender = new StatelessSender(exchange, target, limit, paramHeaders);
  const call = new HttpCall(exchange, sender, sink);
  call.start(message);
  return call;
}

class StatelessSender implements CallSender {
  readonly limit: number;
  readonly #exchange: Exchange;
  readonly #target: StreamableHttpTarget;
  readonly #paramHeaders: readonly string[] | undefined;

  constructor(
    exchange: Exchange,
    target: StreamableHttpTarget,
    limit: number,
    paramHeaders: readonly string[] | undefined,
  ) {
    this.limit = limit;
    this.#paramHeaders = paramHeaders;
    this.#exchange = exchange;
    this.#target = target;
  }

  send(message: Message, handler: UpstreamHandler): UpstreamRequest {
    const { upstream } = this.#target;
    const headers = this.#clientHeaders();
    headers.push("accept", "application/json, text/event-stream");
    headers.push("content-type", "application/json");
    headers.push("mcp-protocol-version", STATELESS_REVISION, "mcp-method", message.method);
    const name = nameOf(message);
    if (name !== undefined) headers.push("mcp-name", encodeHeader(name));
    const span = beginMcpCall(this.#exchange.trace, this.#target, message, "POST");
    const body = (span && textWithTrace(message, span, headers)) ?? message.text;
    const call = { method: "POST", path: upstream.path, headers, body };
    return sendInSpan(span, upstream, call, handler);
  }

  #clientHeaders(): string[] {
    const headers = headersForTarget(this.#exchange, this.#target);
    if (this.#paramHeaders === undefined) return headers;
    // A client with sessions does not know these headers, so its own values have no meaning.
    const kept = headers.filter((_, at) => !isParamHeader(headers[at - (at % 2)] ?? ""));
    return [...kept, ...this.#paramHeaders];
  }

  onHead(_method: string, status: number): TargetFailure["kind"] | undefined {
    if (isDoubtful(status)) this.#target.era.doubtStateless();
    const isRead = (status >= 200 && status <= 299) || status === 400 || status === 404;
    return isRead ? undefined : "status";
  }
}

function nameOf(message: Message): string | undefined {
  const field = NAMED_PARAMS.get(message.method);
  return field === undefined ? undefined : stringAt(message.text, paramOf(message, field));
}
