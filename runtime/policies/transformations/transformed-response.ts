import { decodeBody } from "../../http/body/content-coding.ts";
import type { Exchange } from "../../http/exchange.ts";
import { ForwardedResponse } from "../../http/forwarded-response.ts";
import { ResponseHeaderEdits } from "../../http/headers/response-header-edits.ts";
import { statusOfText } from "../../http/headers/status-text.ts";
import { HeldResponse } from "../../http/held-response.ts";
import { ReceivedResponse } from "../../http/received-response.ts";
import type { ResponseSink } from "../../http/response-sink.ts";
import { changeHeaders } from "./changed-headers.ts";
import { bodyBytes, type ResponseTransform } from "./message-changes.ts";
import { replacedHeaders } from "./replaced-headers.ts";

/** Changes the head of a response; the body is forwarded or replaced. */
export class HeadFilter extends ForwardedResponse {
  readonly #exchange: Exchange;
  readonly #transform: ResponseTransform;
  /** Whether the body was replaced, so that the original one is discarded. */
  #isReplaced = false;

  constructor(exchange: Exchange, next: ResponseSink, transform: ResponseTransform) {
    super(next);
    this.#exchange = exchange;
    this.#transform = transform;
  }

  override respond(status: number, headers: readonly string[], body: string | Uint8Array): void {
    const changed = changedResponse(
      this.#exchange,
      new ReceivedResponse(status, headers),
      this.#transform,
    );
    this.next.respond(changed.status, changed.headers, changed.body ?? body);
  }

  override writeHead(status: number, headers: readonly string[], length: number | undefined): void {
    const changed = changedResponse(
      this.#exchange,
      new ReceivedResponse(status, headers),
      this.#transform,
    );
    if (changed.body === undefined) {
      this.next.writeHead(changed.status, changed.headers, length);
      return;
    }
    this.#isReplaced = true;
    this.next.respond(changed.status, changed.headers, changed.body);
  }

  override write(chunk: string | Uint8Array): boolean {
    return this.#isReplaced || this.next.write(chunk);
  }

  override end(trailers?: readonly string[]): void {
    if (!this.#isReplaced) this.next.end(trailers);
  }

  override withdraw(): void {
    this.#isReplaced = false;
    super.withdraw();
  }
}

/** Buffers a whole response before changing it. */
export class WholeFilter extends HeldResponse {
  readonly #transform: ResponseTransform;

  constructor(exchange: Exchange, next: ResponseSink, transform: ResponseTransform, limit: number) {
    super(exchange, next, { limit });
    this.#transform = transform;
  }

  protected override finish(head: ReceivedResponse, body: Buffer): void {
    void this.#change(head, body).catch(() => this.exchange.abort());
  }

  async #change(head: ReceivedResponse, body: Buffer): Promise<void> {
    const coding = head.header("content-encoding");
    const content = await decodeBody(body, coding, this.limit, this.exchange.newBuffer());
    if (typeof content === "string") {
      this.refuse(`cannot decode the response: ${content}`);
      return;
    }
    head.bufferedBody = content;
    const changed = changedResponse(this.exchange, head, this.#transform);
    this.next.respond(changed.status, changed.headers, changed.body ?? body);
  }
}

/** Applies the changes to a response; `body` is `undefined` if it stays the same. */
export function changedResponse(
  { original }: Pick<Exchange, "original">,
  response: ReceivedResponse,
  transform: ResponseTransform,
): { status: number; headers: readonly string[]; body: Uint8Array | undefined } {
  const changes = transform(response);
  const replaced = changes.replace === undefined ? undefined : replacedHeaders(changes.replace);
  const edits = new ResponseHeaderEdits();
  changeHeaders(edits, changes);
  const status = statusValue(changes.status) ?? response.status;
  // Responses without a body (RFC 9110 6.4.1).
  const hasBody = original.method !== "HEAD" && status !== 204 && status !== 304;
  const body = hasBody && "body" in changes ? bodyBytes(changes.body) : undefined;
  if (body !== undefined) edits.remove("content-encoding");
  return { status, headers: edits.apply(replaced ?? response.headers), body };
}

function statusValue(value: unknown): number | undefined {
  if (typeof value === "string") return statusOfText(value);
  const isStatus =
    typeof value === "number" && Number.isInteger(value) && value >= 200 && value <= 599;
  return isStatus ? value : undefined;
}
