import type { PeerConnection } from "../../tls/client-certificate.ts";
import type { BodySource } from "../body/body.ts";

/**
 * A request as an engine has read it. Its shape is that of node:http's IncomingMessage, so that nothing stands between
 * that engine and an exchange; HTTP/2 makes one of a stream (node/http2-stream.ts). Exchanges see of engines this file only.
 */
export interface EngineRequest {
  readonly method?: string | undefined;
  /** The target. */
  readonly url?: string | undefined;
  /** The flat header list, Host included. */
  readonly rawHeaders: string[];
  /** `1.1`, `1.0` or `2`. */
  readonly httpVersion: string;
  readonly socket: EngineConnection;
  /** It says that its client takes trailers, and the engine can send them; absent: no. */
  readonly acceptsTrailers?: boolean;
  /** `end` was emitted already: there will be none again. */
  readonly readableEnded: boolean;
  on(event: "data", listener: (chunk: Buffer) => void): unknown;
  on(event: "end" | "close" | "error", listener: () => void): unknown;
  pause(): unknown;
  resume(): unknown;
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
  /** Fields that follow the body, as a flat list; before `end`, where the request accepts them. Throws as `writeHead`. */
  setTrailers?(trailers: readonly string[]): void;
  end(chunk?: Uint8Array): unknown;
  end(chunk: string, encoding: "latin1"): unknown;
  /** Breaks the response off: the client sees that it is not complete. */
  destroy(): unknown;
  on(event: "drain" | "close", listener: () => void): unknown;
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
