import type { CapturedVariables } from "../../cel/variables.ts";
import type { Borrower } from "../../net/socket-reads.ts";
import type { GatewayContext } from "../../process/gateway-context.ts";
import { type MaybePromise, thenMaybe } from "../../process/maybe-promise.ts";
import type { BodyObserver, BodyProblem, BodySource } from "../body/body.ts";
import { CountedBuffer } from "../body/counted-buffer.ts";
import {
  type Exchange,
  type ExchangeRecord,
  RequestAttributes,
  type ShownTokens,
} from "../exchange.ts";
import type { ExchangeTrace } from "../exchange-trace.ts";
import type { StrippedCredential } from "../headers/credential-location.ts";
import type { HeaderList } from "../headers/header-list.ts";
import { endToEnd } from "../headers/hop-by-hop.ts";
import type { AddedFields } from "../http1/fields.ts";
import type { ReceivedFields } from "../http1/received-fields.ts";
import { type RefusalFormat, textRefusal } from "../refusal-format.ts";
import type { ResponseSink } from "../response-sink.ts";
import type { EngineRequest, EngineResponse } from "./engine.ts";
import { ReceivedRequest } from "./received-request.ts";
import { ExchangeBody, RequestBody } from "./request-body.ts";
import { ResponseWriter } from "./response-writer.ts";
import type { RequestPort } from "./server-handlers.ts";
import type { RequestFacts } from "./validate-request.ts";

/** An exchange over any engine. Rarely used values are computed on demand. */
export class EngineExchange extends ReceivedRequest implements Exchange {
  readonly gateway: GatewayContext;
  readonly startTime = Date.now();
  readonly started = performance.now();
  keepsPath = false;
  upstreamHost: string | null | undefined;
  refusalFormat: RefusalFormat = textRefusal;
  bufferedBody: Uint8Array | undefined;
  strippedCredentials: StrippedCredential | undefined;
  shownTokens: ShownTokens | undefined;
  readonly record: ExchangeRecord = {
    route: undefined,
    listener: undefined,
    reason: undefined,
    upstream: undefined,
    caller: undefined,
    callers: undefined,
    tokenCounters: undefined,
    onModelUsage: undefined,
    callAdmissions: undefined,
    traceId: undefined,
    spanId: undefined,
    fields: undefined,
  };
  trace: ExchangeTrace | undefined;
  captured: CapturedVariables | undefined;
  /** Whether the client sends its body only after a 100 (`Expect: 100-continue`). */
  expectsContinue = false;
  /** Minimum rate of a body that is buffered whole, in bytes per second; slower ones are refused. */
  minBodyRate = 0;
  /** The port that received the request; `undefined` if it is refused for another thread. */
  port: RequestPort | undefined;
  isOneMessage = false;

  readonly #request: EngineRequest;
  readonly #response: EngineResponse;
  readonly #writer: ResponseWriter;
  readonly #facts: RequestFacts;
  #attributes: RequestAttributes | undefined;

  #body: ExchangeBody | undefined;
  #bodyObserver: BodyObserver | undefined;
  #buffers: CountedBuffer[] | undefined;

  /** Receiver of responses: the writer, behind policies that intercept them. */
  #sink: ResponseSink;
  /** Whether an intercepting policy got a response. */
  #isIntercepted = false;
  #isAborted = false;
  #isClosed = false;
  #abortListeners: (() => void)[] | undefined;
  #closeListeners: (() => void)[] | undefined;

  constructor(
    request: EngineRequest,
    response: EngineResponse,
    facts: RequestFacts,
    gateway: GatewayContext,
  ) {
    super(request, facts);
    this.gateway = gateway;
    this.#request = request;
    this.#response = response;
    this.#writer = new ResponseWriter(request, response, gateway);
    this.#sink = this.#writer;
    this.#facts = facts;
  }

  /** The request as its engine has read it. */
  get received(): EngineRequest {
    return this.#request;
  }

  get acceptsTrailers(): boolean {
    return this.#writer.acceptsTrailers;
  }

  get attributes(): RequestAttributes {
    this.#attributes ??= new RequestAttributes();
    return this.#attributes;
  }

  get body(): Uint8Array | BodySource | null {
    return this.hasBody || this.#body !== undefined ? this.#ownBody().current : null;
  }

  setRequestBody(body: Uint8Array | BodySource): void {
    this.#ownBody().replace(body);
  }

  readBody(limit: number): MaybePromise<Buffer | BodyProblem> {
    const reading = { limit, minRate: this.minBodyRate, rates: this.gateway.bodyRates };
    const read = this.#ownBody().read(reading, () => this.newBuffer());
    return thenMaybe(read, (body) => {
      // RFC 9110 15.5.9: the rest of a slow body is not read.
      if (body === "too-slow") this.closeConnection();
      return body;
    });
  }

  observeRequestBody(observer: BodyObserver): void {
    this.#bodyObserver = observer;
  }

  newBuffer(): CountedBuffer {
    const buffer = new CountedBuffer(this.gateway.buffers);
    if (this.#isClosed) buffer.release();
    else if (this.#buffers === undefined) this.#buffers = [buffer];
    else this.#buffers.push(buffer);
    return buffer;
  }

  get responseStatus(): number | undefined {
    return this.#writer.status;
  }

  get responseTrailers(): HeaderList {
    return this.#writer.trailers;
  }

  get responseHeaders(): HeaderList {
    return this.#writer.headers;
  }

  get responseType(): string | undefined {
    return this.#writer.contentType;
  }

  get headersSent(): boolean {
    return this.#isIntercepted || this.#writer.headersSent;
  }

  get isOver(): boolean {
    return this.#writer.isOver;
  }

  /** Closes the connection after this response. */
  closeConnection(): void {
    this.#writer.closesConnection = true;
  }

  setResponseHeader(name: string, value: string): void {
    this.#writer.edits.set(name, value);
  }

  addResponseHeader(name: string, value: string): void {
    this.#writer.edits.add(name, value);
  }

  setResponseHeaderIf(isThere: boolean, name: string, value: string): void {
    this.#writer.edits.setIf(isThere, name, value);
  }

  removeResponseHeader(name: string): void {
    this.#writer.edits.remove(name);
  }

  interceptResponse(filter: (next: ResponseSink) => ResponseSink): void {
    this.#sink = filter(this.#sink);
  }

  respond(status: number, headers: HeaderList, body: string | Uint8Array = ""): void {
    if (this.headersSent || this.isOver) return;
    this.#isIntercepted = this.#sink !== this.#writer;
    this.#sink.respond(status, headers, body);
  }

  writeHead(status: number, headers: HeaderList, length?: number): void {
    if (this.headersSent || this.isOver) return;
    this.#isIntercepted = this.#sink !== this.#writer;
    this.#sink.writeHead(status, headers, length);
  }

  passHead(status: number, fields: ReceivedFields): void {
    if (this.#sink !== this.#writer)
      this.writeHead(status, endToEnd(fields.list, ""), fields.length);
    else if (!this.headersSent && !this.isOver) this.#writer.passHead(status, fields);
  }

  passWhole(status: number, fields: ReceivedFields, added: AddedFields, body: Uint8Array): void {
    if (this.#sink !== this.#writer)
      this.respond(status, [...endToEnd(fields.list, ""), ...added.list], body);
    else if (!this.headersSent && !this.isOver) this.#writer.passWhole(status, fields, added, body);
  }

  get upgrade(): string | undefined {
    return this.#response.upgrade?.protocol;
  }

  switchProtocols(headers: HeaderList): BodySource {
    const client = this.#writer.switchProtocols(headers);
    this.#leave();
    return client;
  }

  get isTunnel(): boolean {
    return this.#response.tunnel !== undefined;
  }

  openTunnel(): BodySource {
    const client = this.#writer.openTunnel();
    this.#leave();
    return client;
  }

  /** Removes the policies that change responses, because bytes of another protocol follow. */
  #leave(): void {
    this.#sink.leave();
    this.#sink = this.#writer;
  }

  write(chunk: string | Uint8Array): boolean {
    if (this.isOver || !this.headersSent) return true;
    return this.#sink.write(chunk);
  }

  get borrower(): Borrower | undefined {
    return this.#sink === this.#writer ? this.#response : undefined;
  }

  end(trailers?: readonly string[]): void {
    if (this.isOver || !this.headersSent) return;
    this.#sink.end(trailers);
  }

  onDrain(listener: () => void): void {
    this.#sink.onDrain(listener);
  }

  withdrawResponse(): boolean {
    if (this.#writer.headersSent || this.isOver) return false;
    this.#isIntercepted = false;
    this.#sink.withdraw();
    return true;
  }

  abort(): void {
    this.#writer.abort();
  }

  onAbort(listener: () => void): void {
    if (this.#isAborted) listener();
    else if (this.#abortListeners === undefined) this.#abortListeners = [listener];
    else this.#abortListeners.push(listener);
  }

  onClose(listener: () => void): void {
    if (this.#isClosed) listener();
    else if (this.#closeListeners === undefined) this.#closeListeners = [listener];
    else this.#closeListeners.push(listener);
  }

  /** The connection closed before the response had ended. */
  clientLeft(): void {
    this.#isAborted = true;
    this.#writer.isOver = true;
    this.record.reason ??= this.gateway.isOverdue ? "Draining" : "ClientClosed";
    const listeners = this.#abortListeners;
    this.#abortListeners = undefined;
    if (listeners !== undefined) for (const listener of listeners) listener();
  }

  /** Releases everything that was collected for the exchange once it is over. */
  close(): void {
    this.#isClosed = true;
    if (this.#closeListeners !== undefined) for (const each of this.#closeListeners) each();
    if (this.#buffers !== undefined) for (const buffer of this.#buffers) buffer.release();
    // The exchange may be referenced for longer, by a call that waits for the client's next request.
    this.#abortListeners = undefined;
    this.#closeListeners = undefined;
    this.#writer.forgetListener();
    this.#body?.forget();
    this.bufferedBody = undefined;
    this.captured = undefined;
  }

  #ownBody(): ExchangeBody {
    this.#body ??= new ExchangeBody(this.#sentBody());
    return this.#body;
  }

  #sentBody(): RequestBody | undefined {
    if (!this.hasBody) return undefined;
    const beforeRead = () => {
      if (this.expectsContinue) this.#response.writeContinue();
    };
    return new RequestBody(this.#request, this.#facts.length, {
      beforeRead,
      trailers: this.requestTrailers,
      observer: this.#bodyObserver,
    });
  }
}
