import type { GatewayContext } from "../../process/gateway-context.ts";
import type { BodySource } from "../body/body.ts";
import { type HeaderList, headerValue } from "../headers/header-list.ts";
import { endToEnd } from "../headers/hop-by-hop.ts";
import { ResponseHeaderEdits } from "../headers/response-header-edits.ts";
import { type AddedFields, addedFields, isPlainText } from "../http1/fields.ts";
import type { ReceivedFields } from "../http1/received-fields.ts";
import type { ResponseSink } from "../response-sink.ts";
import type { EngineRequest, EngineResponse, EngineTunnel } from "./engine.ts";

/** Writes one response to the engine, as the last receiver of responses. */
export class ResponseWriter implements ResponseSink {
  /** Status as sent; `undefined` before. */
  status: number | undefined;
  headersSent = false;
  /** Whether nothing more can be sent. */
  isOver = false;
  /** Whether the connection closes after this response. */
  closesConnection = false;
  readonly #request: EngineRequest;
  readonly #response: EngineResponse;
  readonly #gateway: GatewayContext;
  #headers: HeaderList | undefined;
  /** Fields that were sent as received. */
  #passed: ReceivedFields | undefined;
  /** Fields that were added to them. */
  #added = nothingAdded;
  #edits: ResponseHeaderEdits | undefined;
  /** Bytes of the body still to come, if its length was announced. */
  #remaining: number | undefined;
  #isFlushed = false;
  #drainListener: (() => void) | undefined;

  constructor(request: EngineRequest, response: EngineResponse, gateway: GatewayContext) {
    this.#request = request;
    this.#response = response;
    this.#gateway = gateway;
  }

  /** Changes to the head of any response. */
  get edits(): ResponseHeaderEdits {
    this.#edits ??= new ResponseHeaderEdits();
    return this.#edits;
  }

  /** Trailers as sent; empty without any. */
  trailers: HeaderList = [];

  /** Headers as sent; empty before. */
  get headers(): HeaderList {
    if (this.#headers === undefined && this.#passed !== undefined) {
      this.#headers = [...endToEnd(this.#passed.list, ""), ...this.#added.list];
    }
    return this.#headers ?? [];
  }

  /** Content-Type as sent; `undefined` if none was sent. */
  get contentType(): string | undefined {
    const passed = this.#passed;
    return passed === undefined ? headerValue(this.headers, "content-type") : passed.contentType;
  }

  /** Whether the client and the connection support trailers. */
  get acceptsTrailers(): boolean {
    return this.#request.acceptsTrailers;
  }

  respond(status: number, headers: HeaderList, body: string | Uint8Array): void {
    if (this.isOver) return;
    const length = Buffer.byteLength(body);
    this.#sendHead(status, headers, length);
    this.isOver = true;
    if (typeof body !== "string") this.#response.end(body);
    else if (this.#response.endText && isPlainText(body, length)) this.#response.endText(body);
    else this.#response.end(Buffer.from(body));
  }

  writeHead(status: number, headers: HeaderList, length: number | undefined): void {
    if (this.isOver) return;
    this.#sendHead(status, headers, length);
    this.#expectBody(length, false);
  }

  /** Sends the head of a response with received fields, unchanged if there are no edits. */
  passHead(status: number, fields: ReceivedFields): void {
    const { length, isFollowed } = fields;
    if (this.#passLines(status, fields, nothingAdded, length)) {
      this.#expectBody(length, isFollowed && length !== undefined);
    } else this.writeHead(status, endToEnd(fields.list, ""), length);
  }

  /** Sends received fields with additional ones and the whole body. */
  passWhole(status: number, fields: ReceivedFields, added: AddedFields, body: Uint8Array): void {
    if (this.isOver) return;
    if (this.#passLines(status, fields, added, body.length)) {
      this.isOver = true;
      this.#response.end(body);
    } else this.respond(status, [...endToEnd(fields.list, ""), ...added.list], body);
  }

  /** Sends the head, unless a piece of the body has taken it along. */
  flush(): void {
    if (!this.#isFlushed && !this.isOver) this.#response.flushHead();
  }

  write(chunk: string | Uint8Array): boolean {
    if (this.isOver) return true;
    this.#isFlushed = true;
    if (typeof chunk === "string" && this.#remaining === undefined && this.#response.writeText) {
      return this.#response.writeText(chunk);
    }
    const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
    if (this.#remaining !== undefined) {
      this.#remaining -= bytes.length;
      // The last piece of a known length ends the response, which saves a write.
      if (this.#remaining <= 0) {
        this.isOver = true;
        this.#response.end(bytes);
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

  end(trailers: readonly string[] | undefined): void {
    if (this.isOver) return;
    this.isOver = true;
    if (trailers !== undefined && this.acceptsTrailers) {
      this.trailers = trailers;
      this.#response.setTrailers(trailers);
    }
    this.#response.end();
  }

  /** Does nothing: an unsent response has not reached the writer. */
  withdraw(): void {}

  leave(): void {}

  /** Drops the listener once the exchange is over, because a connection keeps its last response. */
  forgetListener(): void {
    this.#drainListener = undefined;
  }

  /** Switches the connection to the protocol that its client requested. */
  switchProtocols(headers: HeaderList): BodySource {
    const { upgrade } = this.#response;
    if (upgrade === undefined) throw new Error("the client did not request another protocol");
    const head = this.#edited(headers);
    head.push("connection", "Upgrade", "upgrade", upgrade.protocol);
    return this.#leaveHttp(upgrade, head);
  }

  /** Makes the connection the tunnel that its client requested. */
  openTunnel(): BodySource {
    const { tunnel } = this.#response;
    if (tunnel === undefined) throw new Error("the client did not request a tunnel");
    return this.#leaveHttp(tunnel, []);
  }

  /** Aborts the response, so that it cannot be taken for complete. */
  abort(): void {
    if (this.#response.writableFinished) return;
    this.isOver = true;
    // A body that ends with the connection (HTTP/1.0) would look complete; only a reset shows the abort.
    if (this.#request.httpVersion === "1.0") this.#request.socket.resetAndDestroy();
    else this.#response.destroy();
  }

  /** Sends the fields as lines. Returns false if that is not possible. */
  #passLines(
    status: number,
    fields: ReceivedFields,
    added: AddedFields,
    length: number | undefined,
  ): boolean {
    const passed = this.#edits === undefined ? fields.lines : undefined;
    const { lines } = added;
    if (passed === undefined || lines === undefined || fields.host !== undefined) return false;
    if (!this.#response.writeLines) return false;
    this.#response.writeLines(status, passed + lines, {
      length: status === 204 ? undefined : length,
      hasDate: fields.hasDate,
      closes: this.closesConnection || this.#gateway.isDraining,
    });
    this.status = status;
    this.#passed = fields;
    this.#added = added;
    this.headersSent = true;
    return true;
  }

  #sendHead(status: number, headers: HeaderList, length: number | undefined): void {
    const head = this.#edited(headers);
    // RFC 9110 8.6: no Content-Length on 1xx and 204.
    if (length !== undefined && status >= 200 && status !== 204) {
      head.push("content-length", String(length));
    }
    if (this.closesConnection || this.#gateway.isDraining) head.push("connection", "close");
    try {
      this.#response.writeHead(status, head);
    } catch (error) {
      // The value is not a valid header (RFC 9110 5.5). The refusal that follows must not fail for the same reason.
      this.#edits = undefined;
      throw error;
    }
    this.status = status;
    this.#headers = head;
    this.headersSent = true;
  }

  /** `isThere`: a piece of the body follows immediately. */
  #expectBody(length: number | undefined, isThere: boolean): void {
    // With trailers, the end is signalled by them.
    this.#remaining = this.acceptsTrailers ? undefined : length;
    // The first piece of the body usually comes in this tick, so both fit into one packet. Otherwise the head is sent alone.
    if (!isThere) process.nextTick(flushLate, this);
  }

  #edited(headers: HeaderList): string[] {
    return this.#edits === undefined ? [...headers] : this.#edits.apply(headers);
  }

  #leaveHttp(tunnel: EngineTunnel, head: HeaderList): BodySource {
    const client = tunnel.accept(head);
    this.#headers = head;
    this.headersSent = true;
    this.#isFlushed = true;
    return client;
  }
}

const nothingAdded = addedFields([]);

/** A function instead of a closure per response. */
function flushLate(writer: ResponseWriter): void {
  writer.flush();
}
