import type { ThreadLine } from "../../../process/thread-links.ts";
import type { BodySource } from "../../body/body.ts";
import { isFieldValue, isToken } from "../../http1/fields.ts";
import type { EngineResponse, EngineUpgrade } from "../engine.ts";
import {
  type HandedBack,
  type HandoverMessage,
  handoverWindow,
  ownBytes,
} from "./handover-message.ts";

/** The response to a request on a connection of another thread. */
export class HandedOverResponse implements EngineResponse {
  statusCode = 0;
  headersSent = false;
  writableFinished = false;
  readonly #line: ThreadLine<HandoverMessage>;
  /** Head of a response of which nothing was sent yet. */
  #head: HandedBack["head"];
  #trailers: readonly string[] | undefined;
  /** Bytes on the way to the client. */
  #sent = 0;
  #isFull = false;
  #isOver = false;
  readonly #drainListeners: (() => void)[] = [];
  readonly #closeListeners: (() => void)[] = [];
  readonly upgrade?: EngineUpgrade;

  /** `protocol`: the one that the connection can switch to; `client`: the client's bytes after that. */
  constructor(line: ThreadLine<HandoverMessage>, protocol: string | undefined, client: BodySource) {
    this.#line = line;
    if (protocol === undefined) return;
    const accept = (fields: readonly string[]) => {
      checkFields(fields);
      line.send({ kind: "switch", fields });
      this.statusCode = 101;
      this.headersSent = true;
      return client;
    };
    this.upgrade = { protocol, accept };
  }

  writeHead(status: number, head: readonly string[]): void {
    if (!Number.isInteger(status) || status < 200 || status > 999) throw new Error("no status");
    checkFields(head);
    this.#head = { status, fields: head };
    this.statusCode = status;
    this.headersSent = true;
  }

  writeContinue(): void {
    this.#line.send({ kind: "continue" });
  }

  flushHead(): void {
    if (this.#head !== undefined) this.#send(undefined, false);
  }

  write(chunk: Uint8Array): boolean {
    this.#sent += chunk.length;
    this.#send(chunk, false);
    this.#isFull = this.#sent >= handoverWindow.max;
    return !this.#isFull;
  }

  setTrailers(trailers: readonly string[]): void {
    checkFields(trailers);
    this.#trailers = trailers;
  }

  end(chunk?: Uint8Array): void {
    this.#send(chunk, true);
    this.#isOver = true;
  }

  destroy(): void {
    if (!this.#isOver) this.#line.send({ kind: "destroy" });
    this.#isOver = true;
  }

  on(event: "drain" | "close", listener: () => void): void {
    (event === "drain" ? this.#drainListeners : this.#closeListeners).push(listener);
  }

  /** The client has received so many bytes. */
  taken(bytes: number): void {
    this.#sent -= bytes;
    if (!this.#isFull || this.#sent >= handoverWindow.max) return;
    this.#isFull = false;
    for (const listener of this.#drainListeners) listener();
  }

  /** The response is over. */
  close(isFinished: boolean): void {
    this.#isOver = true;
    this.writableFinished = isFinished;
    for (const listener of this.#closeListeners.splice(0)) listener();
  }

  #send(chunk: Uint8Array | undefined, isLast: boolean): void {
    if (this.#isOver) return;
    const bytes = chunk === undefined || chunk.length === 0 ? undefined : ownBytes(chunk);
    const part = { kind: "response", head: this.#head, trailers: this.#trailers } as const;
    this.#head = undefined;
    this.#line.send({ ...part, bytes, isLast }, bytes === undefined ? [] : [bytes.buffer]);
  }
}

/** Throws if a field is invalid, because the other thread would find out too late. */
function checkFields(list: readonly string[]): void {
  const isWrong = list.some((text, at) => !(at % 2 === 0 ? isToken(text) : isFieldValue(text)));
  if (isWrong) throw new Error("a field that is not valid");
}
