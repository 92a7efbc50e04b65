import { validateHeaderValue } from "node:http";
import type { GatewayContext } from "../../../gateway/context.ts";
import { type BodySource, collect } from "../../body/body.ts";
import { RequestBody } from "../../body/request-body.ts";
import type { Exchange, ExchangeRecord } from "../../exchange.ts";
import type { StrippedCredential } from "../../headers/credentials.ts";
import type { HeaderList } from "../../headers/header-list.ts";
import { ResponseHeaderEdits } from "../../headers/response-header-edits.ts";
import { RequestAttributes } from "../../request-attributes.ts";
import type { ResponseSink } from "../../response-sink.ts";
import type { EngineRequest, EngineResponse } from "../engine.ts";
import type { RequestFacts } from "../validate-request.ts";
import { RequestHead } from "./request-head.ts";

/** The longest body that is sent as one piece with its head. */
const oneWrite = 4096;

/** An exchange over an engine of node: HTTP/1.1 or HTTP/2. */
export class NodeExchange extends RequestHead implements Exchange {
  readonly gateway: GatewayContext;
  refusalFormat: "text" | "json-rpc" = "text";
  bufferedBody: Uint8Array | undefined;
  strippedCredentials: StrippedCredential | undefined;
  #attributes: RequestAttributes | undefined;
  responseHeaders: HeaderList = [];
  readonly record: ExchangeRecord = {
    route: undefined,
    listener: undefined,
    reason: undefined,
    upstream: undefined,
    caller: undefined,
    fields: undefined,
  };

  readonly #response: EngineResponse;
  readonly #length: number | undefined;
  #source: RequestBody | undefined;
  #bytes: Promise<Buffer | "too-large" | "aborted"> | undefined;
  #collected: Buffer | undefined;
  #replacement: Uint8Array | BodySource | undefined;
  #filter: ResponseSink | undefined;
  #edits: ResponseHeaderEdits | undefined;
  /** Bytes of the response's body still to come, when its length was announced. */
  #remaining: number | undefined;
  #headersSent = false;
  #isOver = false;
  #isAborted = false;
  #isFlushed = false;
  #abortListeners: (() => void)[] | undefined;
  #drainListener: (() => void) | undefined;
  /** Set by `Expect: 100-continue`: the client sends its body when told to. */
  expectsContinue = false;
  /** The connection ends with this response. */
  closesConnection = false;

  constructor(
    request: EngineRequest,
    response: EngineResponse,
    facts: RequestFacts,
    gateway: GatewayContext,
  ) {
    super(request, facts);
    this.gateway = gateway;
    this.#response = response;
    this.#length = facts.length;
  }

  get attributes(): RequestAttributes {
    this.#attributes ??= new RequestAttributes();
    return this.#attributes;
  }

  get body(): Uint8Array | BodySource | null {
    if (this.#replacement !== undefined) return this.#replacement;
    if (!this.hasBody) return null;
    return this.#collected ?? this.#bodySource();
  }

  setRequestBody(body: Uint8Array | BodySource): void {
    this.#replacement = body;
    // What the client sends is read all the same, or its connection could not be used again.
    if (body instanceof Uint8Array && this.hasBody && this.#bytes === undefined) {
      this.#bodySource().discard();
    }
  }

  readBody(limit: number): Promise<Buffer | "too-large" | "aborted"> {
    const replacement = this.#replacement;
    if (replacement instanceof Uint8Array) return Promise.resolve(Buffer.from(replacement));
    if (!this.hasBody) return Promise.resolve(Buffer.alloc(0));
    this.#bytes ??= new Promise((resolve) => {
      collect(this.#bodySource(), limit, (result) => {
        if (typeof result !== "string") this.#collected = result;
        resolve(result);
      });
    });
    return this.#bytes;
  }

  setResponseHeader(name: string, value: string): void {
    this.#edits ??= new ResponseHeaderEdits();
    this.#edits.set(name, value);
  }

  addResponseHeader(name: string, value: string): void {
    this.#edits ??= new ResponseHeaderEdits();
    this.#edits.add(name, value);
  }

  removeResponseHeader(name: string): void {
    this.#edits ??= new ResponseHeaderEdits();
    this.#edits.remove(name);
  }

  interceptResponse(filter: (next: ResponseSink) => ResponseSink): void {
    this.#filter = filter(
      this.#filter ?? {
        respond: (status, headers, body) => this.#respond(status, headers, body),
        writeHead: (status, headers, length) => this.#writeHead(status, headers, length),
        write: (chunk) => this.#write(chunk),
        end: () => this.#end(),
      },
    );
  }

  respond(status: number, headers: HeaderList, body: string | Uint8Array = ""): void {
    if (this.#headersSent || this.#isOver) return;
    if (this.#filter === undefined) {
      this.#respond(status, headers, body);
      return;
    }
    this.#headersSent = true;
    this.#filter.respond(status, headers, body);
  }

  writeHead(status: number, headers: HeaderList, length?: number): void {
    if (this.#headersSent || this.#isOver) return;
    if (this.#filter === undefined) {
      this.#writeHead(status, headers, length);
      return;
    }
    this.#headersSent = true;
    this.#filter.writeHead(status, headers, length);
  }

  get upgrade(): string | undefined {
    return this.#response.upgrade?.protocol;
  }

  switchProtocols(headers: HeaderList): BodySource {
    const { upgrade } = this.#response;
    if (upgrade === undefined) throw new Error("the client asked for no other protocol");
    const head = this.#edits === undefined ? [...headers] : this.#edits.apply(headers);
    for (let i = 0; i < head.length; i += 2) validateHeaderValue(head[i] ?? "", head[i + 1] ?? "");
    head.push("connection", "Upgrade", "upgrade", upgrade.protocol);
    this.responseHeaders = head;
    this.#headersSent = true;
    this.#isFlushed = true;
    return upgrade.accept(head);
  }

  write(chunk: string | Uint8Array): boolean {
    if (this.#isOver || !this.#headersSent) return true;
    return this.#filter === undefined ? this.#write(chunk) : this.#filter.write(chunk);
  }

  end(): void {
    if (this.#isOver || !this.#headersSent) return;
    if (this.#filter === undefined) this.#end();
    else this.#filter.end();
  }

  #respond(status: number, headers: HeaderList, body: string | Uint8Array): void {
    if (this.#isOver) return;
    const bytes = typeof body === "string" ? Buffer.from(body) : body;
    this.#sendHead(status, headers, bytes.length);
    this.#isOver = true;
    this.#endWith(bytes);
  }

  #writeHead(status: number, headers: HeaderList, length: number | undefined): void {
    if (this.#isOver) return;
    this.#sendHead(status, headers, length);
    this.#remaining = length;
    // The first piece of the body usually comes in this tick: one packet. When it does not, the head goes alone.
    process.nextTick(() => {
      if (!this.#isFlushed && !this.#isOver) this.#response.write("", "latin1");
    });
  }

  #write(chunk: string | Uint8Array): boolean {
    if (this.#isOver) return true;
    this.#isFlushed = true;
    const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
    if (this.#remaining !== undefined) {
      this.#remaining -= bytes.length;
      // The last piece of a known length ends the response: one write to the socket less.
      if (this.#remaining <= 0) {
        this.#isOver = true;
        this.#endWith(bytes);
        return true;
      }
    }
    return this.#response.write(bytes);
  }

  onDrain(listener: () => void): void {
    if (this.#drainListener === undefined) {
      this.#response.on("drain", () => this.#drainListener?.());
    }
    this.#drainListener = listener;
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#response.end();
  }

  abort(): void {
    if (this.#response.writableFinished) return;
    this.#isOver = true;
    // A body that ends with the connection (HTTP/1.0) would look complete: only a reset tells.
    if (this.request.httpVersion === "1.0") this.request.socket.resetAndDestroy();
    else this.#response.destroy();
  }

  get headersSent(): boolean {
    return this.#headersSent;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  onAbort(listener: () => void): void {
    if (this.#isAborted) {
      listener();
      return;
    }
    if (this.#abortListeners === undefined) this.#abortListeners = [listener];
    else this.#abortListeners.push(listener);
  }

  /** The server saw the connection close before the response had ended. */
  clientLeft(): void {
    this.#isAborted = true;
    this.#isOver = true;
    this.record.reason ??= this.gateway.isOverdue ? "Draining" : "ClientClosed";
    const listeners = this.#abortListeners;
    this.#abortListeners = undefined;
    if (listeners !== undefined) for (const listener of listeners) listener();
  }

  #sendHead(status: number, headers: HeaderList, length: number | undefined): void {
    const head = this.#edits === undefined ? [...headers] : this.#edits.apply(headers);
    // RFC 9110 8.6: no Content-Length on 1xx and 204.
    if (length !== undefined && status >= 200 && status !== 204) {
      head.push("content-length", String(length));
    }
    if (this.closesConnection || this.gateway.isDraining) head.push("connection", "close");
    try {
      this.#response.writeHead(status, head);
    } catch (error) {
      // A value that can't be a header (RFC 9110 5.5). The refusal that follows must not fail for the same reason.
      this.#edits = undefined;
      throw error;
    }
    this.responseHeaders = head;
    this.#headersSent = true;
  }

  /**
   * Node puts the head and a latin1 string into one buffer, which costs half of a gathered write. A string of another
   * encoding would encode the head too, and change its bytes.
   */
  #endWith(bytes: Uint8Array): void {
    if (bytes instanceof Buffer && bytes.length <= oneWrite) {
      this.#response.end(bytes.toString("latin1"), "latin1");
    } else {
      this.#response.end(bytes);
    }
  }

  #bodySource(): RequestBody {
    this.#source ??= new RequestBody(this.request, this.#length, () => {
      if (this.expectsContinue) this.#response.writeContinue();
    });
    return this.#source;
  }
}
