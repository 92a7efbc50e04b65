import type { PeerConnection } from "../../net/connected-client.ts";
import type { BodySink, BodySource } from "../body/body.ts";
import type { ReceivedFields } from "../http1/received-fields.ts";

/** A request as an engine has read it. Exchanges see of engines this file only. */
export interface EngineRequest {
  readonly method: string;
  /** The target. */
  readonly url: string;
  /** The flat header list, Host included. */
  readonly rawHeaders: string[];
  /** The same as the text that was received; undefined: it was none. */
  readonly fields?: ReceivedFields | undefined;
  /** `1.1`, `1.0` or `2`. */
  readonly httpVersion: string;
  readonly socket: EngineConnection;
  /** It says that its client takes trailers. */
  readonly acceptsTrailers: boolean;
  /** What stood behind the body, once all of it has come; undefined: nothing did. */
  readonly trailers: readonly string[] | undefined;
  /** All of the body, in the place of a flow, where it has come in one piece already; undefined: it is to flow. Absent: the same. */
  takeWhole?(): Buffer | undefined;
  /** Starts the flow of the body; once. What is there already comes at once. */
  flow(sink: BodySink): void;
  pause(): void;
  resume(): void;
  /** Nobody wants the rest of the body: it is read and thrown away. Safe to call again. */
  discard(): void;
}

/** The connection of a request: who is at its other end, and TLS when it has it. */
export interface EngineConnection extends PeerConnection {
  /** The client's address; IPv4 may be written as IPv6 (`::ffff:`). Absent once the client has left unknown. */
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  /** The gateway's own end, in the same form. */
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
  /** True with TLS. */
  readonly encrypted?: boolean | undefined;
  /** The server that the client named in its handshake (SNI), as it came; anything but a text: none. */
  readonly servername?: string | false | null | undefined;
  /** Ends the connection in a way that its client can't take for the end of a body (RFC 9293 3.10.7). */
  resetAndDestroy(): unknown;
}

/** What there is to know of the lines of a head. */
export interface ResponseLines {
  /** Bytes of the body; undefined: they don't say. */
  readonly length: number | undefined;
  readonly hasDate: boolean;
  /** The connection ends with the response. */
  readonly closes: boolean;
}

/** Where a response is written. */
export interface EngineResponse {
  /** `head` is a flat list; throws on what can't be a header (RFC 9110 5.5), with nothing sent. It leaves with what follows. */
  writeHead(status: number, head: readonly string[]): void;
  /** The same with fields that were received and are complete, as lines with their line breaks. Absent: it takes none. */
  writeLines?(status: number, lines: string, head: ResponseLines): void;
  writeContinue(): void;
  /** Sends the head alone. */
  flushHead(): void;
  /** False: wait for `drain`. */
  write(chunk: Uint8Array): boolean;
  /** The same with a text that has not to be made bytes first. Absent: it has to be. */
  writeText?(text: string): boolean;
  /** All that was written has left the process: nobody holds its bytes. Absent: they may be held. */
  readonly holdsNothing?: boolean;
  /** Fields that follow the body, as a flat list; before `end`, where the request accepts them. Throws as `writeHead`. */
  setTrailers(trailers: readonly string[]): void;
  end(chunk?: Uint8Array): void;
  /** Breaks the response off: the client sees that it is not complete. */
  destroy(): void;
  on(event: "drain" | "close", listener: () => void): void;
  /** The client asks for another protocol, and the connection can change to it. */
  readonly upgrade?: EngineUpgrade;
  /** The client asks for a tunnel (CONNECT), and the connection can become one. */
  readonly tunnel?: EngineTunnel;
  readonly headersSent: boolean;
  readonly statusCode: number;
  /** True when the last byte was handed to the connection. */
  readonly writableFinished: boolean;
}

/** A connection that may change to another protocol. */
export interface EngineUpgrade extends EngineTunnel {
  /** As the client sent it. */
  readonly protocol: string;
}

/** A connection that may leave HTTP. */
export interface EngineTunnel {
  /**
   * Responds 101, to CONNECT 200, with these headers; what the client sends from now on is raw, and so is what is written to it. Throws on
   * what can't be a header, with nothing sent.
   */
  accept(headers: readonly string[]): BodySource;
}

/** What an engine knows of a request beyond its head. */
export interface Framing {
  /** HTTP/2: whether a body follows. */
  readonly hasBody?: boolean;
  /** HTTP/1.1: it says `Expect: 100-continue`. */
  readonly expectsContinue?: boolean;
}

/** Sees a request through. */
export type ServeRequest = (
  request: EngineRequest,
  response: EngineResponse,
  framing: Framing,
) => void;
