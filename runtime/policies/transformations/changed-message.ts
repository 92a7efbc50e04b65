import { decodeBody } from "../../http/body/content-coding.ts";
import type { CountedBuffer } from "../../http/body/counted-buffer.ts";
import type { Exchange } from "../../http/exchange.ts";
import { withoutHeader } from "../../http/headers/header-list.ts";
import { ReceivedResponse } from "../../http/received-response.ts";
import type {
  UpgradeHandler,
  UpstreamFailure,
  UpstreamHandler,
  UpstreamRequest,
  UpstreamTunnel,
} from "../../http/upstream/upstream.ts";
import type { ResponseTransform } from "./message-changes.ts";
import { changedResponse } from "./transformed-response.ts";

/** Changes the head of a response; the body is forwarded or replaced. */
export class ChangedMessage<Handler extends UpstreamHandler> implements UpstreamHandler {
  protected readonly handler: Handler;
  protected readonly exchange: Exchange;
  protected readonly transform: ResponseTransform;
  /** Whether the body was replaced, so that the original one is discarded. */
  #isReplaced = false;

  constructor(handler: Handler, exchange: Exchange, transform: ResponseTransform) {
    this.handler = handler;
    this.exchange = exchange;
    this.transform = transform;
  }

  onHead(status: number, headers: readonly string[]): void {
    const changed = changedResponse(
      this.exchange,
      new ReceivedResponse(status, headers),
      this.transform,
    );
    const { body } = changed;
    if (body === undefined) {
      this.handler.onHead(changed.status, changed.headers);
      return;
    }
    this.#isReplaced = true;
    this.handler.onHead(changed.status, framed(changed.headers, body));
    this.handler.onData(Buffer.from(body));
  }

  onData(chunk: Buffer): boolean {
    return this.#isReplaced || this.handler.onData(chunk);
  }

  onEnd(trailers?: readonly string[]): void {
    this.handler.onEnd(this.#isReplaced ? undefined : trailers);
  }

  onError(failure: UpstreamFailure): void {
    this.handler.onError(failure);
  }
}

/** Does the same for an upgrade request; the response that switches protocols stays unchanged. */
export class ChangedSwitch extends ChangedMessage<UpgradeHandler> implements UpgradeHandler {
  #hasSwitched = false;

  onSwitch(headers: readonly string[], tunnel: UpstreamTunnel): void {
    this.#hasSwitched = true;
    this.handler.onSwitch(headers, tunnel);
  }

  override onData(chunk: Buffer): boolean {
    return this.#hasSwitched ? this.handler.onData(chunk) : super.onData(chunk);
  }
}

/** Buffers a whole response before changing it. */
export class WholeMessage implements UpstreamHandler {
  readonly #handler: UpstreamHandler;
  readonly #exchange: Exchange;
  readonly #transform: ResponseTransform;
  readonly #limit: number;
  readonly #held: CountedBuffer;
  #head: ReceivedResponse | undefined;
  #request: UpstreamRequest | undefined;
  #isOver = false;

  constructor(
    handler: UpstreamHandler,
    exchange: Exchange,
    transform: ResponseTransform,
    limit: number,
  ) {
    this.#handler = handler;
    this.#exchange = exchange;
    this.#transform = transform;
    this.#limit = limit;
    this.#held = exchange.newBuffer();
  }

  /** Sets the request of this response; after an abort, nothing more is delivered. */
  started(request: UpstreamRequest): UpstreamRequest {
    this.#request = request;
    return {
      abort: (reason) => {
        this.#isOver = true;
        this.#held.release();
        request.abort(reason);
      },
      resume: () => request.resume(),
    };
  }

  onHead(status: number, headers: readonly string[]): void {
    this.#head = new ReceivedResponse(status, headers);
  }

  onData(chunk: Buffer): boolean {
    if (this.#isOver) return true;
    if (this.#held.length + chunk.length > this.#limit) this.#fail("response too large to change");
    else if (!this.#held.push(chunk)) this.#fail("not enough buffer space for the response");
    return true;
  }

  onEnd(): void {
    const head = this.#head;
    if (this.#isOver || head === undefined) return;
    void this.#finish(head, this.#held.bytes()).catch(() => this.#fail("cannot read the response"));
  }

  onError(failure: UpstreamFailure): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#held.release();
    this.#handler.onError(failure);
  }

  async #finish(head: ReceivedResponse, body: Buffer): Promise<void> {
    const coding = head.header("content-encoding");
    const content = await decodeBody(body, coding, this.#limit, this.#exchange.newBuffer());
    if (this.#isOver) return;
    if (typeof content === "string") {
      this.#fail(`cannot decode the response: ${content}`);
      return;
    }
    head.bufferedBody = content;
    const changed = changedResponse(this.#exchange, head, this.#transform);
    const sent = changed.body ?? body;
    this.#isOver = true;
    const isReplaced = changed.body !== undefined;
    this.#handler.onHead(
      changed.status,
      isReplaced ? framed(changed.headers, sent) : changed.headers,
    );
    if (sent.length > 0) this.#handler.onData(Buffer.from(sent));
    this.#handler.onEnd();
  }

  #fail(detail: string): void {
    this.onError({ kind: "protocol", detail });
    this.#request?.abort();
  }
}

/** Returns the headers of a response with another body. */
function framed(headers: readonly string[], body: Uint8Array): readonly string[] {
  return [...withoutHeader(headers, "content-length"), "content-length", String(body.length)];
}
