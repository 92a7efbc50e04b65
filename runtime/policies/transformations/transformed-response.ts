import { decodeBody } from "../../http/body/content-coding.ts";
import type { Exchange } from "../../http/exchange.ts";
import { fieldValue } from "../../http/headers/field-value.ts";
import { replacedHeaders } from "../../http/headers/replaced-headers.ts";
import { HeaderEdits } from "../../http/headers/response-header-edits.ts";
import type { AnswerSink } from "../../http/response-sink.ts";
import { bodyBytes, type ResponseTransform } from "./message-changes.ts";
import { AnswerVariables } from "./response-variables.ts";

/** Changes heads; the body passes, or another one is sent. */
export class HeadFilter implements AnswerSink {
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
    const changed = changedAnswer(
      this.#exchange,
      new AnswerVariables(status, headers),
      this.#transform,
    );
    this.#next.respond(changed.status, changed.headers, changed.body ?? body);
  }

  respondHead(status: number, headers: readonly string[], length: number | undefined): void {
    const changed = changedAnswer(
      this.#exchange,
      new AnswerVariables(status, headers),
      this.#transform,
    );
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
export class WholeFilter implements AnswerSink {
  readonly #exchange: Exchange;
  readonly #next: AnswerSink;
  readonly #transform: ResponseTransform;
  readonly #limit: number;
  #head: AnswerVariables | undefined;
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
    this.#head = new AnswerVariables(status, headers);
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

  async #finish(head: AnswerVariables, body: Buffer): Promise<void> {
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
  { asSent }: Exchange,
  answer: AnswerVariables,
  transform: ResponseTransform,
): { status: number; headers: readonly string[]; body: Uint8Array | undefined } {
  const changes = transform(answer);
  const replaced = changes.replace === undefined ? undefined : replacedHeaders(changes.replace);
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
  const hasBody = asSent.method !== "HEAD" && status !== 204 && status !== 304;
  const body = hasBody && "body" in changes ? bodyBytes(changes.body) : undefined;
  if (body !== undefined) edits.remove("content-encoding");
  return { status, headers: edits.apply(replaced ?? answer.headers), body };
}

function statusValue(value: unknown): number | undefined {
  const status = typeof value === "string" ? Number(value) : value;
  const isStatus =
    typeof status === "number" && Number.isInteger(status) && status >= 200 && status <= 599;
  return isStatus ? status : undefined;
}
