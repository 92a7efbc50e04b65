import { isUtf8 } from "node:buffer";
import { type Exchange, type Handled, type Handler, logFields } from "../../http/exchange.ts";
import { OPEN_BRACKET } from "../../json/json-characters.ts";
import { isSpace } from "../../json/json-codes.ts";
import { elementsOf, skipSpace } from "../../json/json-text.ts";
import { scanJson } from "../../json/scan-json.ts";
import { thenMaybe } from "../../process/maybe-promise.ts";
import { readMessage } from "../protocol/message.ts";
import { respondRpcError, rpcCode, rpcError } from "../protocol/rpc-response.ts";
import { type BatchMember, BatchResponse } from "./batch-response.ts";

/**
 * Maximum bytes of a batch. It is read before its client is known, because each of its messages is judged alone, so it is
 * small.
 */
const MAX_BATCH_BYTES = 131_072;

/** Maximum number of messages in a batch. */
const MAX_BATCH_MESSAGES = 64;

/** The only revision with batches; its clients do not send the header. */
const BATCH_REVISION = "2025-03-26";

/** Whether the body of a request may be a batch of messages (JSON-RPC 2.0, 6), so that it has to be looked at first. */
export function mayBeBatch(exchange: Exchange): boolean {
  if (exchange.method !== "POST" || exchange.isOneMessage || !exchange.hasBody) return false;
  const version = exchange.header("mcp-protocol-version");
  if (version !== undefined && version !== BATCH_REVISION) return false;
  const length = Number(exchange.header("content-length"));
  return length <= MAX_BATCH_BYTES && exchange.header("content-encoding") === undefined;
}

/**
 * Serves each message of a batch as a request of its own, and responds with all responses together. `serve` serves a body
 * that is no batch.
 */
export function serveBatch(exchange: Exchange, serve: Handler): Handled {
  return thenMaybe(exchange.readBody(MAX_BATCH_BYTES), (bytes) => {
    exchange.isOneMessage = true;
    // A malformed body is refused where one message is read, after the rules for its client.
    if (typeof bytes === "string" || !beginsArray(bytes) || !isUtf8(bytes)) return serve(exchange);
    const text = bytes.toString("utf8");
    if (scanJson(text, []) === undefined) return serve(exchange);
    serveMembers(exchange, text);
  });
}

function serveMembers(exchange: Exchange, text: string): void {
  const texts = elementsOf(text, skipSpace(text, 0)).map(({ start, end }) =>
    text.slice(start, end),
  );
  logFields(exchange.record).set("mcp.batch.size", String(texts.length));
  if (texts.length === 0) {
    refuseBatch(exchange, "the batch is empty");
    return;
  }
  if (texts.length > MAX_BATCH_MESSAGES) {
    refuseBatch(exchange, `a batch has at most ${MAX_BATCH_MESSAGES} messages`);
    return;
  }
  const members = texts.map(memberOf);
  const ids = members.flatMap(({ kind, id }) => (kind === "request" ? [id] : []));
  if (new Set(ids).size < ids.length) {
    // Responses could not be told apart, and a cancellation would name both.
    refuseBatch(exchange, "two requests of the batch have the same id");
    return;
  }
  new BatchResponse(exchange, members).start();
}

function refuseBatch(exchange: Exchange, why: string): void {
  const message = `Invalid Request: ${why}`;
  respondRpcError(exchange, 400, "MCP", { id: "null", code: rpcCode.invalidRequest, message });
}

/** Returns a member, or its response if it cannot be served. */
function memberOf(text: string): BatchMember {
  const message = readMessage(text);
  if (message.kind === "problem") {
    const { id, code } = message;
    return { kind: "invalid", id, text: rpcError(id, code, message.message) };
  }
  const { kind, id, method } = message;
  if (kind !== "request" || method !== "initialize") return message;
  // MCP 2025-03-26, lifecycle.
  const why = "Invalid Request: initialize cannot be part of a batch";
  return { kind: "invalid", id, text: rpcError(id, rpcCode.invalidRequest, why) };
}

/** Whether the first character of a JSON text opens an array. */
function beginsArray(bytes: Buffer): boolean {
  let at = 0;
  while (isSpace(bytes[at] ?? 0)) at++;
  return bytes[at] === OPEN_BRACKET;
}
