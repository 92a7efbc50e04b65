import type { MessageInitShape } from "@bufbuild/protobuf";
import type { JsonObject } from "../../cel/variables.ts";
import {
  type CommonResponse,
  CommonResponse_ResponseStatus,
  type HttpBodySchema,
  type HttpHeadersSchema,
  type HttpTrailersSchema,
} from "../../grpc/gen/envoy/service/ext_proc/v3/external_processor_pb.ts";
import type { Exchange } from "../../http/exchange.ts";
import {
  editRequest,
  headerEdits,
  isShown,
  removedNames,
  shownHeaders,
} from "../envoy/header-edits.ts";

/** A message to a processor. */
export interface ProcessorMessage {
  readonly request:
    | {
        readonly case: "requestHeaders" | "responseHeaders";
        readonly value: MessageInitShape<typeof HttpHeadersSchema>;
      }
    | {
        readonly case: "requestBody" | "responseBody";
        readonly value: MessageInitShape<typeof HttpBodySchema>;
      }
    | {
        readonly case: "requestTrailers" | "responseTrailers";
        readonly value: MessageInitShape<typeof HttpTrailersSchema>;
      };
  /** Values of expressions, by namespace. */
  readonly attributes?: Readonly<Record<string, Record<string, never>>>;
}

/** Builds the message with the head of a request, including the pseudo headers of HTTP/2. */
export function requestHead(
  exchange: Exchange,
  endOfStream: boolean,
  attributes: JsonObject | undefined,
): ProcessorMessage {
  const { method, target, host, scheme } = exchange;
  const headers = [
    pseudoHeader(":method", method),
    pseudoHeader(":path", target),
    pseudoHeader(":authority", host),
    pseudoHeader(":scheme", scheme),
    ...headerFields(shownHeaders(exchange), "host"),
  ];
  const value = { headers: { headers }, endOfStream };
  return { request: { case: "requestHeaders", value }, ...withAttributes(attributes) };
}

/** Builds the message with the head of a response. */
export function responseHead(
  status: number,
  sent: readonly string[],
  endOfStream: boolean,
  attributes: JsonObject | undefined,
): ProcessorMessage {
  const headers = [pseudoHeader(":status", String(status)), ...headerFields(sent, "")];
  const value = { headers: { headers }, endOfStream };
  return { request: { case: "responseHeaders", value }, ...withAttributes(attributes) };
}

/** Builds the message with a piece of a body. */
export function bodyPiece(
  of: "requestBody" | "responseBody",
  body: Uint8Array,
  endOfStream: boolean,
): ProcessorMessage {
  return { request: { case: of, value: { body, endOfStream } } };
}

/** Builds the message with the trailers of a body. */
export function trailersMessage(
  of: "requestTrailers" | "responseTrailers",
  trailers: readonly string[],
): ProcessorMessage {
  const value = { trailers: { headers: headerFields(trailers, "") } };
  return { request: { case: of, value } };
}

/** Returns the body that replaces the sender's, if the processor does not want to receive that one; otherwise `undefined`. */
export function replacedBody(response: CommonResponse | undefined): Uint8Array | undefined {
  const replaces = response?.status === CommonResponse_ResponseStatus.CONTINUE_AND_REPLACE;
  return replaces ? (bodyOf(response) ?? Buffer.alloc(0)) : undefined;
}

/** Returns the bytes that replace a body; `undefined` if it stays the same. */
export function bodyOf(response: CommonResponse | undefined): Uint8Array | undefined {
  const { mutation } = response?.bodyMutation ?? {};
  switch (mutation?.case) {
    case "body":
      return mutation.value;
    case "clearBody":
      return mutation.value ? Buffer.alloc(0) : undefined;
    case "streamedResponse":
      return mutation.value.body;
    default:
      return undefined;
  }
}

/** Whether this is the last piece of a body. */
export function isLastPiece(response: CommonResponse | undefined): boolean {
  const { mutation } = response?.bodyMutation ?? {};
  return mutation?.case === "streamedResponse" && mutation.value.endOfStream;
}

/** Changes the headers of the request. */
export function mutateRequest(exchange: Exchange, response: CommonResponse | undefined): void {
  const { setHeaders = [], removeHeaders = [] } = response?.headerMutation ?? {};
  for (const name of removedNames(removeHeaders)) exchange.removeRequestHeader(name);
  editRequest(exchange, headerEdits(setHeaders, "overwrite"));
}

/** Fills both value fields, because servers read either of them. */
function pseudoHeader(key: string, value: string) {
  return { key, value, rawValue: Buffer.from(value, "latin1") };
}

/** Builds the headers, whose bytes are only in `raw_value`. */
function headerFields(list: readonly string[], skipped: string) {
  const fields: { readonly key: string; readonly rawValue: Uint8Array }[] = [];
  for (let i = 0; i < list.length; i += 2) {
    const key = (list[i] ?? "").toLowerCase();
    if (key !== skipped && isShown(key))
      fields.push({ key, rawValue: Buffer.from(list[i + 1] ?? "", "latin1") });
  }
  return fields;
}

function withAttributes(attributes: JsonObject | undefined): Pick<ProcessorMessage, "attributes"> {
  if (attributes === undefined) return {};
  // Expressions return plain JSON.
  return { attributes: { "envoy.filters.http.ext_proc": attributes as Record<string, never> } };
}
