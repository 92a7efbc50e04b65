import type { PeerConnection } from "../../net/connected-client.ts";
import type { Borrower } from "../../net/socket-reads.ts";
import type { BodySink, BodySource } from "../body/body.ts";
import type { ReceivedFields } from "../http1/received-fields.ts";

/** A request as an engine has read it. This file is all that exchanges know of engines. */
export interface EngineRequest {
  readonly method: string;
  /** Target of the request. */
  readonly url: string;
  /** Flat header list, with Host. */
  readonly rawHeaders: string[];
  /** The same fields as received; `undefined` if they were not received as HTTP/1.1. */
  readonly fields?: ReceivedFields | undefined;
  /** `1.1`, `1.0` or `2`. */
  readonly httpVersion: string;
  readonly socket: EngineConnection;
  /** Whether the client announced that it accepts trailers. */
  readonly acceptsTrailers: boolean;
  /** Trailers, once the whole body has arrived; `undefined` without any. */
  readonly trailers: readonly string[] | undefined;
  /** Returns the whole body, instead of a flow, if it has arrived in one piece; otherwise `undefined`. Optional. */
  takeWhole?(): Buffer | undefined;
  /** Starts the flow of the body; may be called once. Bytes that have arrived flow at once. */
  flow(sink: BodySink): void;
  pause(): void;
  resume(): void;
  /** Reads and discards the rest of the body. Can be called more than once. */
  discard(): void;
}

/** The connection of a request: its ends, and its TLS. */
export interface EngineConnection extends PeerConnection {
  /** Address of the client; IPv4 may be written as IPv6 (`::ffff:`). Absent if the client left before it was known. */
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  /** The proxy that announced the client; absent without one. */
  readonly peerAddress?: string | undefined;
  readonly peerPort?: number | undefined;
  /** Address of the gateway's end, in the same form. */
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
  /** Whether it uses TLS. */
  readonly encrypted?: boolean | undefined;
  /** Server name of the client's handshake (SNI) as received; without one, anything but a string. */
  readonly servername?: string | false | null | undefined;
  /** Resets the connection, so that its client cannot take the end for the end of a body (RFC 9293 3.10.7). */
  resetAndDestroy(): unknown;
}

/** Facts about the lines of a head. */
export interface ResponseLines {
  /** Bytes of the body; `undefined` if the lines do not contain it. */
  readonly length: number | undefined;
  readonly hasDate: boolean;
  /** Whether the connection closes after the response. */
  readonly closes: boolean;
}

/** The writing side of a response. */
export interface EngineResponse extends Borrower {
  /**
   * Sets the head, a flat list, which is sent with what follows. Throws, without sending anything, if it contains an invalid
   * header (RFC 9110 5.5).
   */
  writeHead(status: number, head: readonly string[]): void;
  /** Sets the head as complete lines with their line breaks. Absent if the engine takes none. */
  writeLines?(status: number, lines: string, head: ResponseLines): void;
  writeContinue(): void;
  /** Sends the head alone. */
  flushHead(): void;
  /** Writes a chunk. Returns false if the caller should wait for `drain`. */
  write(chunk: Uint8Array): boolean;
  /** Writes a string without converting it to bytes first. Absent if the engine cannot. */
  writeText?(text: string): boolean;
  /** Sets the trailers, a flat list, before `end`, if the request accepts them. Throws as `writeHead`. */
  setTrailers(trailers: readonly string[]): void;
  end(chunk?: Uint8Array): void;
  /** Ends with a body of short ASCII text without converting it to bytes first. Absent if the engine cannot. */
  endText?(text: string): void;
  /** Aborts the response, so that the client sees that it is incomplete. */
  destroy(): void;
  on(event: "drain" | "close", listener: () => void): void;
  /** Set if the client requests another protocol and the connection can switch to it. */
  readonly upgrade?: EngineUpgrade;
  /** Set if the client requests a tunnel (CONNECT) and the connection can become one. */
  readonly tunnel?: EngineTunnel;
  readonly headersSent: boolean;
  readonly statusCode: number;
  /** Whether the last byte was handed to the connection. */
  readonly writableFinished: boolean;
}

/** A connection that can switch to another protocol. */
export interface EngineUpgrade extends EngineTunnel {
  /** Name of the protocol as received. */
  readonly protocol: string;
}

/** A connection that can leave HTTP. */
export interface EngineTunnel {
  /**
   * Responds with 101, or 200 to CONNECT, and these headers; from then on both directions are raw bytes. Throws, without
   * sending anything, if a header is invalid.
   */
  accept(headers: readonly string[]): BodySource;
}

/** Facts of an engine about a request beyond its head. */
export interface Framing {
  /** HTTP/2: whether a body follows. */
  readonly hasBody?: boolean;
  /** HTTP/1.1: whether the request has `Expect: 100-continue`. */
  readonly expectsContinue?: boolean;
}

/** Handles a request until its response has ended. */
export type ServeRequest = (
  request: EngineRequest,
  response: EngineResponse,
  framing: Framing,
) => void;
