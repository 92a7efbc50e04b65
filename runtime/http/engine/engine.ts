import type { Socket } from "node:net";
import type { BodySource } from "../body/body.ts";

/**
 * A request as an engine has read it. node:http's IncomingMessage is one as it is, so the HTTP/1.1 path has nothing
 * between; HTTP/2 makes one of a stream (http2-stream.ts). Engines only see this file.
 */
export interface EngineRequest {
  readonly method?: string | undefined;
  /** The target. */
  readonly url?: string | undefined;
  /** The flat header list, Host included. */
  readonly rawHeaders: string[];
  /** `1.1`, `2.0` */
  readonly httpVersion: string;
  /** The connection: its peer, and TLS when it has it. */
  readonly socket: Socket;
  /** The end of the body was told already: there will be no `end` again. */
  readonly readableEnded: boolean;
  on(event: "data", listener: (chunk: Buffer) => void): unknown;
  on(event: "end" | "close" | "error", listener: () => void): unknown;
  pause(): unknown;
  resume(): unknown;
}

/** Where a response is written; node:http's ServerResponse is one as it is. */
export interface EngineResponse {
  /** `head` is a flat list; throws on what can't be a header (RFC 9110 5.5), with nothing sent. */
  writeHead(status: number, head: string[]): unknown;
  writeContinue(): void;
  write(chunk: Uint8Array): boolean;
  /**
   * Sends the head alone. Node's own `flushHeaders` would do it in UTF-8, and change the bytes of fields that are
   * Latin-1.
   */
  write(chunk: "", encoding: "latin1"): unknown;
  end(chunk?: Uint8Array): unknown;
  end(chunk: string, encoding: "latin1"): unknown;
  /** Breaks the response off: the client sees that it is not complete. */
  destroy(): unknown;
  on(event: "drain" | "close", listener: () => void): unknown;
  /** The client asks for another protocol, and the connection can change to it. */
  readonly upgrade?: EngineUpgrade;
  readonly headersSent: boolean;
  readonly statusCode: number;
  /** True when the last byte was handed to the connection. */
  readonly writableFinished: boolean;
}

/** A connection that may leave HTTP. */
export interface EngineUpgrade {
  /** As the client sent it. */
  readonly protocol: string;
  /** Answers 101 with these headers; what the client sends from now on is raw, and so is what is written to it. */
  accept(headers: readonly string[]): BodySource;
}
