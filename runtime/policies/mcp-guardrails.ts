import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import type { JsonObject } from "../cel/variables.ts";
import { type EncodedMethod, encodedMethod, type GrpcChannel } from "../grpc/channel.ts";
import { frameOf } from "../grpc/frames.ts";
import {
  type AuthorizationError,
  AuthorizationError_Code,
  ExtMcp,
  type HeaderMutation,
  McpRequestSchema,
  McpResponseSchema,
} from "../grpc/gen/agentgateway/ext_mcp_pb.ts";
import { GrpcError } from "../grpc/status.ts";
import { type Exchange, logFields } from "../http/exchange.ts";
import { grpcStatus } from "../http/grpc-status.ts";
import type { HeaderEdit } from "../http/headers/header-edits.ts";
import { isJsonObject } from "../json/json-object.ts";
import { grpcCallout } from "../telemetry/callout.ts";
import {
  editRequest,
  isSettable,
  isShown,
  removedNames,
  shownHeaders,
} from "./envoy/header-edits.ts";
import { type Phases, phaseOf } from "./mcp-guardrails/phases.ts";
import { fieldValue } from "./transformations/field-value.ts";
import { plainValues } from "./transformations/plain-values.ts";

/** A server that checks MCP messages (gRPC service `agentgateway.dev.ext_mcp.ExtMcp`). */
export interface MessageProcessor {
  readonly server: GrpcChannel;
  /** Milliseconds. */
  readonly deadline: number;
  /** Whether messages continue if the server fails. */
  readonly passesOnFailure: boolean;
  readonly methods: Phases;
  /** Lower-case names of the headers that the server receives; absent for all. */
  readonly allowedHeaders?: readonly string[];
  /** Lower-case names of headers that it does not receive. */
  readonly disallowedHeaders?: readonly string[];
}

/** A message, as a processor sees it. */
export interface CheckedMessage {
  /** Servers that the call is for. */
  readonly servers: readonly string[];
  readonly method: string;
  /** `params` or `result` as JSON text; `undefined` for a request without parameters. */
  readonly content: string | undefined;
  readonly metadata: JsonObject | undefined;
}

/** An error of JSON-RPC for the client: its code and text are the processor's. */
interface MessageError {
  readonly code: number;
  readonly message: string;
  readonly data?: object;
}

/** Codes of JSON-RPC 2.0 (section 5.1). */
const INVALID_REQUEST = -32600;
const INTERNAL_ERROR = -32603;

/** The verdict of a processor: the changed content, `undefined` if it is unchanged, or the error that the client receives. */
export type ProcessorVerdict =
  | { readonly kind: "passed"; readonly content: string | undefined }
  | { readonly kind: "refused"; readonly error: MessageError };

/** Whether a processor checks requests or responses of a method. */
export function runsOn(
  { methods }: MessageProcessor,
  side: "request" | "response",
  method: string,
): boolean {
  const phase = phaseOf(methods, method);
  return phase === "full" || phase === side;
}

/** Asks a processor about a request, and applies its changes of headers. */
export async function askAboutRequest(
  exchange: Exchange,
  processor: MessageProcessor,
  message: CheckedMessage,
): Promise<ProcessorVerdict> {
  const { servers, method, content, metadata } = message;
  const question = create(McpRequestSchema, {
    serviceNames: [...servers],
    method,
    ...metadataOf(metadata),
    ...(content !== undefined && { mcpRequest: Buffer.from(content) }),
    headers: headersFor(exchange, processor),
  });
  const bytes = frameOf(toBinary(McpRequestSchema, question));
  const call = { named: ExtMcp.method.checkRequest, method: requestMethod, bytes };
  return ask(exchange, processor, call, ({ result, headerMutation }) => {
    if (result.case === "error") return refused(result.value);
    const checked = contentOf(result, content);
    if (checked.kind === "passed") applyHeaders(exchange, headerMutation);
    return checked;
  });
}

/** Asks a processor about the result of a request. */
export async function askAboutResult(
  exchange: Exchange,
  processor: MessageProcessor,
  { servers, method, content = "{}", metadata }: CheckedMessage,
): Promise<ProcessorVerdict> {
  const question = create(McpResponseSchema, {
    serviceNames: [...servers],
    method,
    ...metadataOf(metadata),
    mcpResponse: Buffer.from(content),
  });
  const bytes = frameOf(toBinary(McpResponseSchema, question));
  const call = { named: ExtMcp.method.checkResponse, method: responseMethod, bytes };
  return ask(exchange, processor, call, ({ result }) =>
    result.case === "error" ? refused(result.value) : contentOf(result, content),
  );
}

const requestMethod = encodedMethod(ExtMcp.method.checkRequest);
const responseMethod = encodedMethod(ExtMcp.method.checkResponse);

/** A call of a processor: the method, and the encoded question. */
interface Call<Reply> {
  readonly named: typeof ExtMcp.method.checkRequest | typeof ExtMcp.method.checkResponse;
  readonly method: EncodedMethod<Reply>;
  readonly bytes: Buffer;
}

async function ask<Reply>(
  exchange: Exchange,
  { server, deadline, passesOnFailure }: MessageProcessor,
  { named, method, bytes }: Call<Reply>,
  verdict: (reply: Reply) => ProcessorVerdict,
): Promise<ProcessorVerdict> {
  const callout = grpcCallout(exchange, "mcpGuardrails", server.name, named);
  callout.cancelWith(exchange.onAbort.bind(exchange));
  try {
    const options = {
      deadline,
      metadata: callout.metadata,
      onAbort: callout.onAbort.bind(callout),
    };
    const reply = await server.callEncoded(exchange.gateway, method, bytes, options);
    const found = verdict(reply);
    callout.endWith(found.kind === "refused" ? "denied" : "ok", grpcStatus.ok);
    return found;
  } catch (error) {
    const isKnown = error instanceof GrpcError || error instanceof InvalidReply;
    if (!isKnown) throw error;
    callout.endWith("failed", error instanceof GrpcError ? error.code : grpcStatus.internal);
    logFields(exchange.record).set("error", `mcpGuardrails: ${error.message}`);
    return passesOnFailure ? { kind: "passed", content: undefined } : FAILED;
  }
}

const FAILED: ProcessorVerdict = {
  kind: "refused",
  error: { code: INTERNAL_ERROR, message: "The message could not be checked" },
};

/** A reply that is not what the protocol allows. */
class InvalidReply extends Error {}

/** Returns the content of a message that passes. */
function contentOf(
  result: { readonly case: string | undefined; readonly value?: unknown },
  given: string | undefined,
): ProcessorVerdict {
  if (result.case === "pass") return { kind: "passed", content: undefined };
  if (result.case !== "mutated" || !(result.value instanceof Uint8Array))
    throw new InvalidReply("the reply has no result");
  // A request without parameters, such as a list, has nothing to change.
  if (given === undefined) return { kind: "passed", content: undefined };
  const text = Buffer.from(result.value).toString("utf8");
  if (!isObjectText(text)) throw new InvalidReply("the changed message is not a JSON object");
  return { kind: "passed", content: text };
}

function isObjectText(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value);
  } catch {
    return false;
  }
}

/** Error codes of JSON-RPC by those of the protocol. */
const CODES: Readonly<Partial<Record<AuthorizationError_Code, number>>> = {
  [AuthorizationError_Code.PERMISSION_DENIED]: -32001,
  [AuthorizationError_Code.RESOURCE_EXHAUSTED]: -32003,
  [AuthorizationError_Code.INVALID]: INVALID_REQUEST,
};

function refused({ code, reason, mcpError }: AuthorizationError): ProcessorVerdict {
  const text = mcpError === undefined ? "" : Buffer.from(mcpError).toString("utf8");
  const data = isObjectText(text) ? { data: JSON.parse(text) as object } : {};
  const error = { code: CODES[code] ?? INTERNAL_ERROR, message: reason, ...data };
  return { kind: "refused", error };
}

function metadataOf(
  metadata: JsonObject | undefined,
): Pick<MessageInitShape<typeof McpRequestSchema>, "metadataContext"> {
  if (metadata === undefined) return {};
  // Plain JSON, which protobuf's Struct takes.
  return { metadataContext: plainValues(metadata) as Record<string, never> };
}

/** Returns the headers that a processor receives, one entry for each value. */
function headersFor(
  exchange: Exchange,
  { allowedHeaders, disallowedHeaders = [] }: MessageProcessor,
): { readonly key: string; readonly value: Uint8Array }[] {
  const { method, target, host, scheme } = exchange;
  const sent = shownHeaders(exchange);
  const list = [":method", method, ":path", target, ":authority", host, ":scheme", scheme, ...sent];
  const headers: { key: string; value: Uint8Array }[] = [];
  for (let i = 0; i < list.length; i += 2) {
    const key = (list[i] ?? "").toLowerCase();
    const isAllowed = allowedHeaders?.includes(key) ?? isShown(key);
    if (key === "host" || !isAllowed || disallowedHeaders.includes(key)) continue;
    headers.push({ key, value: Buffer.from(list[i + 1] ?? "", "latin1") });
  }
  return headers;
}

/** Applies changes of headers; a value that cannot be sent removes the header. */
function applyHeaders(exchange: Exchange, mutation: HeaderMutation | undefined): void {
  if (mutation === undefined) return;
  const seen = new Set<string>();
  const edits = mutation.set.flatMap(({ key, value }): readonly HeaderEdit[] => {
    const name = key.trim().toLowerCase();
    if (!isSettable(name)) return [];
    const action = seen.has(name) ? "append" : "overwrite";
    seen.add(name);
    return [{ name, value: fieldValue(Buffer.from(value).toString("latin1")), action }];
  });
  const removed = removedNames(mutation.remove);
  const removals = removed.map((name) => ({
    name,
    value: undefined,
    action: "overwrite" as const,
  }));
  editRequest(exchange, [...edits, ...removals]);
}
