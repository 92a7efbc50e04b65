import { toJson } from "../cel/json.ts";
import type { ResponseVariables } from "../cel/variables.ts";
import type { AnswerSink } from "../http/answer-sink.ts";
import { decodeBody } from "../http/content-coding.ts";
import type { Exchange } from "../http/exchange.ts";
import { fieldValue } from "../http/field-value.ts";
import { HeaderEdits } from "../http/header-edits.ts";
import { headerMap, headerValue } from "../http/header-list.ts";
import { targetValue } from "../http/target-value.ts";

/** What becomes of a message. Values are the ones of expressions: undefined is a failure. */
export interface MessageChanges {
  /** Stand beside the headers of their name (lower case); one that fails is left out. */
  readonly add: readonly HeaderValue[];
  /** Replace the headers of their name; one that fails removes them. */
  readonly set: readonly HeaderValue[];
  readonly remove: readonly string[];
  /** The whole body, when there is this member: text or bytes as they are, anything else as JSON; a failure is empty. */
  readonly body?: unknown;
}

/** A lower-case name and the value of its expression. */
export type HeaderValue = readonly [name: string, value: unknown];

/** Changes of a request; a pseudo header that fails stays as it is. */
export interface RequestChanges extends MessageChanges {
  readonly method?: unknown;
  readonly path?: unknown;
  readonly authority?: unknown;
}

/** Changes of an answer; a status that is none from 200 to 599 stays as it is. */
export interface ResponseChanges extends MessageChanges {
  readonly status?: unknown;
}

/** Changes the request that goes upstream. */
export function transformRequest(exchange: Exchange, changes: RequestChanges): void {
  for (const [name, value] of changes.add) {
    const text = fieldValue(value);
    if (text !== undefined) exchange.addRequestHeader(name, text);
  }
  for (const [name, value] of changes.set) {
    const text = fieldValue(value);
    if (text === undefined) exchange.removeRequestHeader(name);
    else exchange.setRequestHeader(name, text);
  }
  for (const name of changes.remove) exchange.removeRequestHeader(name);
  const { method, path, authority } = changes;
  if (typeof method === "string" && /^[A-Z]{1,32}$/.test(method)) exchange.forwardMethod = method;
  exchange.forwardTarget = targetValue(path) ?? exchange.forwardTarget;
  if (typeof authority === "string" && /^[A-Za-z0-9.[\]:_-]{1,255}$/.test(authority)) {
    exchange.forwardHost = authority;
  }
  if (!("body" in changes)) return;
  exchange.removeRequestHeader("content-encoding");
  exchange.setRequestBody(bodyBytes(changes.body));
}

/** What an answer becomes, by what it is. */
export type ResponseTransform = (response: ResponseVariables) => ResponseChanges;

/** Changes the head of whatever answer this exchange gets; its body may be replaced, and is not read. */
export function transformResponse(exchange: Exchange, transform: ResponseTransform): void {
  exchange.filterAnswer((next) => new HeadFilter(exchange, next, transform));
}

/**
 * The same for expressions that read `response.body`: the answer is held until all of it is there. Beyond `limit` bytes,
 * also decoded ones, it is a 502.
 */
export function transformWholeResponse(
  exchange: Exchange,
  transform: ResponseTransform,
  limit: number,
): void {
  // Text can be read only as it is; an upstream that compresses all the same is decoded.
  exchange.removeRequestHeader("accept-encoding");
  exchange.filterAnswer((next) => new WholeFilter(exchange, next, transform, limit));
}

/** An answer as expressions see it. */
class Answer implements ResponseVariables {
  readonly status: number;
  readonly headers: readonly string[];
  bufferedBody: Uint8Array | undefined;

  constructor(status: number, headers: readonly string[]) {
    this.status = status;
    this.headers = headers;
  }

  header(name: string): string | undefined {
    return headerValue(this.headers, name);
  }

  headerMap(): ReadonlyMap<string, string> {
    return headerMap(this.headers);
  }
}

/** Changes heads; the body passes, or another one is sent. */
class HeadFilter implements AnswerSink {
  readonly #exchange: Exchange;
  readonly #next: AnswerSink;
  readonly #transform: ResponseTransform;
  /** The body was replaced: what comes is thrown away. */
  #isReplaced = false;

  constructor(exchange: Exchange, next: AnswerSink, transform: ResponseTransform) {
    this.#exchange = exchange;
    this.#next = next;
    this.#transform = transform;
  }

  respond(status: number, headers: readonly string[], body: string | Uint8Array): void {
    const changed = changedAnswer(this.#exchange, new Answer(status, headers), this.#transform);
    this.#next.respond(changed.status, changed.headers, changed.body ?? body);
  }

  respondHead(status: number, headers: readonly string[], length: number | undefined): void {
    const changed = changedAnswer(this.#exchange, new Answer(status, headers), this.#transform);
    if (changed.body === undefined) {
      this.#next.respondHead(changed.status, changed.headers, length);
      return;
    }
    this.#isReplaced = true;
    this.#next.respond(changed.status, changed.headers, changed.body);
  }

  write(chunk: string | Uint8Array): boolean {
    return this.#isReplaced || this.#next.write(chunk);
  }

  end(): void {
    if (!this.#isReplaced) this.#next.end();
  }
}

/** Holds an answer until it is whole. */
class WholeFilter implements AnswerSink {
  readonly #exchange: Exchange;
  readonly #next: AnswerSink;
  readonly #transform: ResponseTransform;
  readonly #limit: number;
  #head: Answer | undefined;
  #chunks: Buffer[] = [];
  #size = 0;

  constructor(exchange: Exchange, next: AnswerSink, transform: ResponseTransform, limit: number) {
    this.#exchange = exchange;
    this.#next = next;
    this.#transform = transform;
    this.#limit = limit;
  }

  respond(status: number, headers: readonly string[], body: string | Uint8Array): void {
    this.respondHead(status, headers, undefined);
    this.write(body);
    this.end();
  }

  respondHead(status: number, headers: readonly string[], length: number | undefined): void {
    this.#head = new Answer(status, headers);
    if (length !== undefined && length > this.#limit) this.#refuse("answer too large to change");
  }

  write(chunk: string | Uint8Array): boolean {
    if (this.#head === undefined) return true;
    this.#size += chunk.length;
    if (this.#size > this.#limit) this.#refuse("answer too large to change");
    else this.#chunks.push(Buffer.from(chunk));
    return true;
  }

  end(): void {
    const head = this.#head;
    if (head === undefined) return;
    this.#head = undefined;
    const body = Buffer.concat(this.#chunks);
    void this.#finish(head, body).catch(() => this.#exchange.abort());
  }

  async #finish(head: Answer, body: Buffer): Promise<void> {
    const content = await decodeBody(body, head.header("content-encoding"), this.#limit);
    if (typeof content === "string") {
      this.#refuse(`answer can't be decoded: ${content}`);
      return;
    }
    head.bufferedBody = content;
    const changed = changedAnswer(this.#exchange, head, this.#transform);
    this.#next.respond(changed.status, changed.headers, changed.body ?? body);
  }

  #refuse(detail: string): void {
    this.#head = undefined;
    this.#chunks = [];
    const { record } = this.#exchange;
    record.reason = "UpstreamFailure";
    record.fields ??= new Map();
    record.fields.set("error", detail);
    const headers = ["content-type", "text/plain; charset=utf-8"];
    this.#next.respond(502, headers, "upstream gave no valid answer");
  }
}

/** The answer with the changes made; no body: the one there is. */
function changedAnswer(
  { method }: Exchange,
  answer: Answer,
  transform: ResponseTransform,
): { status: number; headers: readonly string[]; body: Uint8Array | undefined } {
  const changes = transform(answer);
  const edits = new HeaderEdits();
  for (const [name, value] of changes.add) {
    const text = fieldValue(value);
    if (text !== undefined) edits.add(name, text);
  }
  for (const [name, value] of changes.set) {
    const text = fieldValue(value);
    if (text === undefined) edits.remove(name);
    else edits.set(name, text);
  }
  for (const name of changes.remove) edits.remove(name);
  const status = statusValue(changes.status) ?? answer.status;
  // These answers have no body (RFC 9110 6.4.1).
  const hasBody = method !== "HEAD" && status !== 204 && status !== 304;
  const body = hasBody && "body" in changes ? bodyBytes(changes.body) : undefined;
  if (body !== undefined) edits.remove("content-encoding");
  return { status, headers: edits.apply(answer.headers), body };
}

function statusValue(value: unknown): number | undefined {
  const status = typeof value === "string" ? Number(value) : value;
  const isStatus =
    typeof status === "number" && Number.isInteger(status) && status >= 200 && status <= 599;
  return isStatus ? status : undefined;
}

function bodyBytes(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value;
  const text = typeof value === "string" ? value : (toJson(value) ?? "");
  return Buffer.from(text);
}
