import type { MessageInitShape } from "@bufbuild/protobuf";
import type { JsonObject } from "../../cel/variables.ts";
import type {
  CommonResponse,
  HttpBodySchema,
  HttpHeadersSchema,
  ProtocolConfigurationSchema,
} from "../../grpc/gen/envoy/service/ext_proc/v3/external_processor_pb.ts";
import type { Exchange } from "../../http/exchange.ts";
import { editRequest, headerEdits, isSettable } from "../envoy/header-edits.ts";

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
      };
  /** What expressions say of the message, by namespace. */
  readonly attributes?: Readonly<Record<string, Record<string, never>>>;
  readonly protocolConfig?: MessageInitShape<typeof ProtocolConfigurationSchema>;
}

/** How a processor gets the bodies of a message. */
export type BodyMode = "none" | "buffered" | "fullDuplex";

/** The number of a mode on the wire (`ProcessingMode.BodySendMode`). */
export const bodyModeNumber = { none: 0, buffered: 2, fullDuplex: 4 } as const;

/** The mode of a number on the wire; undefined for those that are not spoken. */
export function bodyModeOf(number: number): BodyMode | undefined {
  return ({ 0: "none", 2: "buffered", 4: "fullDuplex" } as const)[number];
}

/** The head of a request, with the pseudo headers of HTTP/2. */
export function requestHead(
  { method, target, host, scheme, requestHeaders: sent }: Exchange,
  endOfStream: boolean,
  attributes: JsonObject | undefined,
): ProcessorMessage {
  const headers = [
    { key: ":method", value: method },
    { key: ":path", value: target },
    { key: ":authority", value: host },
    { key: ":scheme", value: scheme },
    ...headerFields(sent, "host"),
  ];
  const value = { headers: { headers }, endOfStream };
  return { request: { case: "requestHeaders", value }, ...withAttributes(attributes) };
}

/** The head of a response. */
export function responseHead(
  status: number,
  sent: readonly string[],
  endOfStream: boolean,
  attributes: JsonObject | undefined,
): ProcessorMessage {
  const headers = [{ key: ":status", value: String(status) }, ...headerFields(sent, "")];
  const value = { headers: { headers }, endOfStream };
  return { request: { case: "responseHeaders", value }, ...withAttributes(attributes) };
}

/** A piece of a body. */
export function bodyPiece(
  of: "requestBody" | "responseBody",
  body: Uint8Array,
  endOfStream: boolean,
): ProcessorMessage {
  return { request: { case: of, value: { body, endOfStream } } };
}

/** The bytes that stand in the place of a body; undefined: it stays. */
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

/** Whether it is the last piece of a body. */
export function isLastPiece(response: CommonResponse | undefined): boolean {
  const { mutation } = response?.bodyMutation ?? {};
  return mutation?.case === "streamedResponse" && mutation.value.endOfStream;
}

/** Changes the headers of the request. */
export function mutateRequest(exchange: Exchange, response: CommonResponse | undefined): void {
  const { setHeaders = [], removeHeaders = [] } = response?.headerMutation ?? {};
  for (const name of removeHeaders.map((each) => each.toLowerCase())) {
    if (isSettable(name)) exchange.removeRequestHeader(name);
  }
  editRequest(exchange, headerEdits(setHeaders, "append"));
}

/** Everything but pseudo headers has its bytes in `raw_value`. */
function headerFields(list: readonly string[], skipped: string) {
  const fields: { readonly key: string; readonly rawValue: Uint8Array }[] = [];
  for (let i = 0; i < list.length; i += 2) {
    const key = (list[i] ?? "").toLowerCase();
    if (key !== skipped) fields.push({ key, rawValue: Buffer.from(list[i + 1] ?? "", "latin1") });
  }
  return fields;
}

function withAttributes(attributes: JsonObject | undefined): Pick<ProcessorMessage, "attributes"> {
  if (attributes === undefined) return {};
  // Expressions gave plain JSON.
  return { attributes: { "envoy.filters.http.ext_proc": attributes as Record<string, never> } };
}
