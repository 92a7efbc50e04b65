import { isSseType, type SseEvent, sseMessage } from "../../http/body/sse.ts";
import type { Exchange } from "../../http/exchange.ts";
import { headerValue, withoutHeaders } from "../../http/headers/header-list.ts";
import type { ReceivedFields } from "../../http/http1/received-fields.ts";
import type {
  UpstreamFailure,
  UpstreamHandler,
  UpstreamRequest,
} from "../../http/upstream/upstream.ts";
import { readMessageBytes } from "../protocol/message.ts";
import { respondRpc, rpcError } from "../protocol/rpc-response.ts";
import type { ListFilter } from "../rules/list-filter.ts";
import { noteResponseError } from "../rules/mcp-metrics.ts";
import { sealEventId } from "../session/event-ids.ts";
import { failureResponse, recordFailure, respondFailure } from "../session/failure-response.ts";
import { listsChanged } from "../session/lists-changed.ts";
import { type Received, type ResponseReader, readResponse } from "../transports/response-reader.ts";
import type { StreamableHttpTarget } from "../transports/target.ts";
import { arePassed, headersForClient } from "../transports/upstream-headers.ts";

/** Options for forwarding a response. */
export interface PassthroughRelayOptions {
  /** The id of the request (JSON text), if one waits for a response. */
  readonly requestId: string | undefined;
  /** `undefined` if the response is forwarded unread. */
  readonly filter: ListFilter | undefined;
  /** Whether the response may contain a list, so that it is always read. Otherwise only events are. */
  readonly isList: boolean;
  /** Whether the body of a refusal (400, 404) is read, because the client depends on its error. Otherwise it is dropped. */
  readonly readsRefusals: boolean;
  /** Maximum number of bytes of one parsed message. */
  readonly limit: number;
  /** Maximum milliseconds for the whole response; `undefined` if unlimited. */
  readonly deadline: number | undefined;
  /** Milliseconds of silence in an event stream before a comment; `undefined` for no comments. */
  readonly keepAlive: number | undefined;
  /** Converts the target's session id to the client's; `undefined` if this request opens no session. */
  readonly onSession: ((targetId: string) => string) | undefined;
  /** Called with the status of the response before anything else. */
  readonly onStatus: ((status: number) => void) | undefined;
}

/** Forwards one response of the only target to the client. */
export class PassthroughRelay implements UpstreamHandler {
  readonly #exchange: Exchange;
  readonly #target: StreamableHttpTarget;
  readonly #options: PassthroughRelayOptions;
  #request: UpstreamRequest | undefined;
  /** Set if the response is parsed. */
  #reader: ResponseReader | undefined;
  #status = 0;
  #headers: string[] = [];
  #isStream = false;
  /** Whether the gateway may add to the stream: its length is open, and its bytes are plain. */
  #isOpenStream = false;
  /** Whether the target numbers its events, so that the client can resume a lost stream. */
  #isResumable = false;
  /** Whether the forwarded part ends with a complete event. */
  #isBetweenEvents = true;
  #pause: NodeJS.Timeout | undefined;
  #forgetDrain: (() => void) | undefined;
  #forgetReloads: (() => void) | undefined;

  constructor(exchange: Exchange, target: StreamableHttpTarget, options: PassthroughRelayOptions) {
    this.#exchange = exchange;
    this.#target = target;
    this.#options = options;
  }

  start(send: (handler: UpstreamHandler) => UpstreamRequest): void {
    this.#exchange.record.upstream = this.#target.upstream.name;
    this.#request = send(this);
    const { gateway, method } = this.#exchange;
    this.#forgetDrain = gateway.onDrainDeadline(() => this.#drain());
    if (method === "GET") this.#forgetReloads = gateway.onReload(() => this.#announceReload());
    this.#exchange.onAbort(() => {
      this.#stopWaiting();
      this.#request?.abort();
    });
    const { deadline } = this.#options;
    if (deadline === undefined) return;
    const timer = setTimeout(() => {
      this.#request?.abort("timeout");
      this.onError({ kind: "timeout", detail: "request timeout" });
    }, deadline);
    this.#exchange.onClose(() => clearTimeout(timer));
  }

  /** Stops waiting: the client is served without this relay. */
  leave(): void {
    this.#stopWaiting();
  }

  onHead(status: number, headers: readonly string[]): void {
    const { filter, isList, readsRefusals, limit, onSession, onStatus } = this.#options;
    onStatus?.(status);
    const isTaken = status >= 200 && status < 300;
    this.#status = status;
    this.#headers = headersForClient(headers, this.#target.credentials);
    const opened = onSession && headerValue(headers, "mcp-session-id");
    if (opened !== undefined) this.#headers.push("mcp-session-id", onSession?.(opened) ?? "");
    this.#isStream = isSseType(headerValue(headers, "content-type"));
    const hasLength = headerValue(headers, "content-length") !== undefined;
    this.#begin(hasLength, headers);
    if (filter !== undefined && (isList || this.#isStream)) {
      const isRefusal = readsRefusals && (status === 400 || status === 404);
      if (!isTaken && !isRefusal) {
        this.#respondWithoutBody(headers);
        return;
      }
      if (status === 202 || status === 204) {
        // No body is expected, and an unread one must not pass.
        this.#exchange.respond(status, this.#headers);
        return;
      }
      this.#reader = readResponse(headers, limit, this.#exchange.newBuffer());
      if (this.#reader === undefined) {
        this.#fail("the response cannot be read");
        return;
      }
    }
    if (this.#reader?.kind !== "json") this.#writeHead(headers);
  }

  onFields(status: number, fields: ReceivedFields): void {
    const { filter, isList, onSession, onStatus } = this.#options;
    const isStream = isSseType(fields.contentType);
    const isRead = filter !== undefined && (isList || isStream);
    if (isRead || onSession !== undefined || !arePassed(fields, this.#target.credentials)) {
      this.onHead(status, fields.list);
      return;
    }
    onStatus?.(status);
    this.#isStream = isStream;
    if (isStream) this.#begin(fields.length !== undefined, fields.list);
    this.#exchange.passHead(status, fields);
  }

  onData(chunk: Buffer): boolean {
    if (this.#exchange.isOver) return true;
    this.#pause?.refresh();
    if (this.#reader !== undefined) return this.#pass(this.#reader.push(chunk));
    if (this.#options.requestId !== undefined) notePassedError(this.#exchange, chunk);
    if (this.#isStream) {
      this.#isResumable ||= chunk.includes("id:");
      this.#isBetweenEvents = endsEvent(chunk);
    }
    return this.#write(chunk);
  }

  onEnd(): void {
    this.#stopWaiting();
    if (this.#reader !== undefined) this.#pass(this.#reader.end());
    // Clients drop an event without an empty line after it. A numbered one is sent again when the client resumes.
    else if (this.#isOpenStream && !this.#isBetweenEvents && !this.#isResumable)
      this.#write("\n\n");
    this.#exchange.end();
  }

  onError(failure: UpstreamFailure): void {
    this.#stopWaiting();
    const exchange = this.#exchange;
    if (!exchange.headersSent || (!this.#isStream && exchange.withdrawResponse())) {
      respondFailure(exchange, this.#options.requestId ?? "null", failure);
      return;
    }
    recordFailure(exchange, failure.detail);
    const isTimeout = failure.kind === "timeout";
    exchange.record.reason = isTimeout ? "Timeout" : "UpstreamFailure";
    // The client resumes a numbered stream; half a JSON body must not look complete.
    if (this.#isStream && !this.#isResumable)
      this.#endStream(failureResponse({ kind: isTimeout ? "timeout" : "closed" }).message);
    else exchange.abort();
  }

  /** Starts comments in the pauses of a stream, which keep proxies from closing it. */
  #begin(hasLength: boolean, headers: readonly string[]): void {
    const isPlain = headerValue(headers, "content-encoding") === undefined;
    this.#isOpenStream = this.#isStream && isPlain && !hasLength;
    const { keepAlive } = this.#options;
    if (!this.#isOpenStream || keepAlive === undefined) return;
    this.#pause = setInterval(() => {
      const { headersSent, isOver } = this.#exchange;
      if (this.#isBetweenEvents && headersSent && !isOver) this.#exchange.write(": keep-alive\n\n");
    }, keepAlive);
    this.#exchange.onClose(() => clearInterval(this.#pause));
  }

  #writeHead(headers: readonly string[]): void {
    const exchange = this.#exchange;
    const length = this.#reader === undefined ? headerValue(headers, "content-length") : undefined;
    exchange.writeHead(
      this.#status,
      this.#headers,
      length === undefined ? undefined : Number(length),
    );
  }

  /** Forwards what was read, without hidden parts. */
  #pass(received: readonly Received[] | undefined): boolean {
    if (received === undefined) {
      this.#fail("the response cannot be read");
      return true;
    }
    let isTaken = true;
    for (const { message, event } of received) {
      if (message?.kind === "response") noteResponseError(this.#exchange, message);
      const shown = message === undefined ? undefined : this.#options.filter?.(message);
      if (shown === "unreadable") {
        this.#fail("the result has a duplicate key");
        return true;
      }
      const text = shown === "hidden" ? undefined : shown?.text;
      if (event === undefined) this.#exchange.respond(this.#status, this.#headers, text);
      else isTaken = this.#write(this.#eventText(event, text));
      if (event?.id !== undefined) this.#isResumable = true;
    }
    return isTaken;
  }

  /** Rewrites an event. Its name and comments are dropped, because no rule checks them. */
  #eventText({ id, retry, data }: SseEvent, text: string | undefined): string {
    const idLine = id === undefined ? "" : `id: ${sealEventId(this.#exchange, id)}\n`;
    const fields = retry === undefined || /\D/.test(retry) ? idLine : `${idLine}retry: ${retry}\n`;
    if (text !== undefined) return sseMessage(text, fields);
    // An event with an id but no message lets the client resume a lost stream (SEP-1699, revision 2025-11-25).
    if (data === "") return `${fields}data:\n\n`;
    return fields === "" ? ":\n\n" : `${fields}\n`;
  }

  #stopWaiting(): void {
    clearInterval(this.#pause);
    this.#forgetDrain?.();
    this.#forgetReloads?.();
  }

  /** Forwards the status without the body, which may contain a list. */
  #respondWithoutBody(headers: readonly string[]): void {
    this.#request?.abort();
    this.#stopWaiting();
    this.#exchange.record.reason = "UpstreamFailure";
    const { code, message } = failureResponse({ kind: "status" });
    const kept = withoutHeaders(headersForClient(headers, this.#target.credentials), OF_CONTENT);
    const text = rpcError(this.#options.requestId ?? "null", code, message);
    respondRpc(this.#exchange, this.#status, text, kept);
  }

  #write(chunk: string | Buffer): boolean {
    if (this.#exchange.write(chunk)) return true;
    this.#exchange.onDrain(() => this.#request?.resume());
    return false;
  }

  /** Announces a reload between two events; skips it in the middle of one, as the rest may take long. */
  #announceReload(): void {
    const { headersSent, isOver } = this.#exchange;
    if (this.#isOpenStream && this.#isBetweenEvents && headersSent && !isOver) {
      this.#exchange.write(listsChanged);
    }
  }

  #drain(): void {
    this.#request?.abort();
    if (!this.#exchange.headersSent) {
      const id = this.#options.requestId ?? "null";
      respondFailure(this.#exchange, id, { kind: "draining", detail: "drained" });
    } else if (this.#isStream) {
      this.#endStream(failureResponse({ kind: "draining" }).message);
    } else {
      this.#exchange.abort();
    }
  }

  /** Fails the response because the target's message must not be forwarded. */
  #fail(detail: string): void {
    this.#stopWaiting();
    this.#request?.abort();
    const exchange = this.#exchange;
    if (exchange.headersSent) {
      recordFailure(exchange, detail);
      this.#endStream(failureResponse({ kind: "protocol" }).message);
    } else {
      const id = this.#options.requestId ?? "null";
      respondFailure(exchange, id, { kind: "protocol", detail });
    }
  }

  /** Ends an event stream with an error, so that the client knows that its request got no response. */
  #endStream(message: string): void {
    const { requestId } = this.#options;
    if (requestId !== undefined) {
      // Completes an event that was interrupted.
      this.#exchange.write(`\n\n${sseMessage(rpcError(requestId, -32603, message))}`);
    }
    this.#exchange.end();
  }
}

function endsEvent(chunk: Buffer): boolean {
  return /(?:\n\n|\r\r|\n\r\n)$/.test(chunk.subarray(-3).toString("latin1"));
}

/** Headers that describe a body. */
const OF_CONTENT: ReadonlySet<string> = new Set(["content-type", "content-encoding"]);

/** Strings in failed responses, as servers write them. */
const SIGNS = ['"error"', '"isError":true', '"isError": true'] as const;

/** A substring of all of them. */
const COMMON_PART = 'rror"';

/**
 * Logs the error in a part of a response that is forwarded unread. Only parts that may contain an error are parsed, and
 * only whole responses or whole events, as all but long ones are.
 */
function notePassedError(exchange: Exchange, piece: Buffer): void {
  if (!piece.includes(COMMON_PART) || !SIGNS.some((sign) => piece.includes(sign))) return;
  for (const bytes of messagesOf(piece)) {
    const message = readMessageBytes(bytes);
    if (message.kind === "response") noteResponseError(exchange, message);
  }
}

/** Returns the body, or the data of events, which servers write in one line each. */
function messagesOf(piece: Buffer): readonly Buffer[] {
  const text = piece.toString("latin1");
  if (text.trimStart().startsWith("{")) return [piece];
  const found = text.matchAll(/^data: ?(\{.*\})\r?$/gm);
  return [...found].map(([, data = ""]) => Buffer.from(data, "latin1"));
}
