import type { Exchange } from "../../http/exchange.ts";
import type { CallSpan, ExchangeTrace } from "../../http/exchange-trace.ts";
import { headerValue } from "../../http/headers/header-list.ts";
import { CONTEXT_FIELDS, mayHaveTrace, textWithParams } from "../protocol/envelope.ts";
import { type Message, ownMessage } from "../protocol/message.ts";
import { addressedPrimitive, shownName } from "../protocol/primitives.ts";
import { responseError } from "../protocol/response-error.ts";
import type { Call, CallSink, McpTarget } from "./target.ts";

/** Attributes of OpenTelemetry's conventions for the items of MCP. */
const itemAttributes = {
  tool: "gen_ai.tool.name",
  prompt: "gen_ai.prompt.name",
  resource: "mcp.resource.uri",
} as const;

/**
 * Begins the span of a message to a target: `tools/call echo`. A request without a message (a stream, the end of a session)
 * is named by its HTTP method. Returns `undefined` if the client's request is not traced.
 */
export function beginMcpCall(
  trace: ExchangeTrace | undefined,
  target: McpTarget,
  message: Message | undefined,
  httpMethod: string,
): CallSpan | undefined {
  if (trace === undefined) return undefined;
  if (message === undefined || message.kind === "response") return trace.beginCall(httpMethod);
  const { method, id } = message;
  const addressed = addressedPrimitive(message);
  const item = addressed?.kind === "item" ? addressed.item : undefined;
  const hasName = item !== undefined && item.kind !== "resource";
  const span = trace.beginCall(hasName ? `${method} ${item.name}` : method, true);
  span.text("mcp.method.name", method);
  span.text("mcp.target", target.name);
  if (item !== undefined) span.text(itemAttributes[item.kind], shownName(item));
  if (id !== "") span.text("jsonrpc.request.id", String(JSON.parse(id)));
  span.text("network.transport", target.kind === "stdio" ? "pipe" : "tcp");
  return span;
}

/** A connection that receives messages without HTTP headers. */
interface AskedByMessages {
  call(request: Message, sink: CallSink): Call;
}

/**
 * Calls a target that receives no HTTP headers: the message carries the trace context instead (SEP-414). If the client's
 * request is traced, the call is a span that ends with the response.
 */
export function callByMessage(
  exchange: Exchange,
  target: McpTarget,
  connection: AskedByMessages,
  request: Message,
  sink: CallSink,
): Call {
  const span = beginMcpCall(exchange.trace, target, request, "");
  const traceparent = span?.traceparent ?? exchange.header("traceparent");
  const message =
    traceparent === undefined
      ? request
      : ownMessage(textWithContext(request, traceparent, exchange.requestHeaders));
  return connection.call(message, span === undefined ? sink : tracedSink(span, sink));
}

function tracedSink(span: CallSpan, sink: CallSink): CallSink {
  return {
    onMessage: (message) => sink.onMessage(message),
    onResponse: (message) => {
      span.end(responseError(message));
      sink.onResponse(message);
    },
    onFailure: (failure) => {
      span.end(failure.kind);
      sink.onFailure(failure);
    },
  };
}

/**
 * Returns the message with the same trace context as its headers if it contains a trace context of the client; `undefined`
 * if it does not, so that it stays unchanged.
 */
export function textWithTrace(
  message: Message,
  span: CallSpan,
  headers: readonly string[],
): string | undefined {
  return mayHaveTrace(message.text)
    ? textWithContext(message, span.traceparent, headers)
    : undefined;
}

/** Copies the trace headers to `params._meta`, replacing the client's values. */
function textWithContext(
  message: Message,
  traceparent: string,
  headers: readonly string[],
): string {
  if (message.kind === "response") return message.text;
  const meta = CONTEXT_FIELDS.flatMap((name) => {
    const value = name === "traceparent" ? traceparent : headerValue(headers, name);
    return value === undefined ? [] : [[name, JSON.stringify(value)] as const];
  });
  return textWithParams(message, Object.fromEntries(meta));
}
