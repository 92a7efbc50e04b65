import type { ShownCertificate } from "../../../net/connected-client.ts";
import type { Framing } from "../engine.ts";

/** What the thread that has a request's connection, and the one that serves it, say to each other. */
export type HandoverMessage = HandedOver | BodyPart | ResponsePart;

/** The head of a request, and all that is known of its connection. */
export interface HandedOver {
  readonly kind: "request";
  /** Whose handlers are to serve it. */
  readonly port: string;
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly httpVersion: string;
  readonly acceptsTrailers: boolean;
  readonly framing: Framing;
  readonly connection: HandedOverConnection;
  /** All of the body, where it has come already. */
  readonly body: Uint8Array | undefined;
  readonly trailers: readonly string[] | undefined;
  /** The protocol that the client asks for, and that its connection can change to. */
  readonly upgrade: string | undefined;
}

/** `EngineConnection` as data. */
export interface HandedOverConnection {
  readonly remoteAddress: string | undefined;
  readonly remotePort: number | undefined;
  readonly localAddress: string | undefined;
  readonly localPort: number | undefined;
  readonly encrypted: boolean;
  readonly servername: string | undefined;
  readonly authorized: boolean;
  readonly certificate: ShownCertificate | undefined;
}

/** Of the body, or what comes when the connection has left HTTP; and of the client. */
type BodyPart =
  | { readonly kind: "body"; readonly bytes: Uint8Array }
  | { readonly kind: "bodyEnd"; readonly trailers: readonly string[] | undefined }
  | { readonly kind: "bodyAbort" }
  /** So many bytes of the response are with the client. */
  | { readonly kind: "sent"; readonly bytes: number }
  /** The response is over. */
  | { readonly kind: "close"; readonly isFinished: boolean };

/** What its own thread is to do. */
type ResponsePart =
  | { readonly kind: "flow" }
  | { readonly kind: "discard" }
  /** So many bytes of the body are read. */
  | { readonly kind: "read"; readonly bytes: number }
  | { readonly kind: "continue" }
  | HandedBack
  /** To change to the other protocol, with these fields. */
  | { readonly kind: "switch"; readonly fields: readonly string[] }
  | { readonly kind: "destroy" }
  | { readonly kind: "reset" }
  /** Nobody serves it there. */
  | { readonly kind: "gone" };

/** A piece of the response. */
export interface HandedBack {
  readonly kind: "response";
  readonly head: { readonly status: number; readonly fields: readonly string[] } | undefined;
  readonly bytes: Uint8Array | undefined;
  readonly trailers: readonly string[] | undefined;
  readonly isLast: boolean;
}

/** Bytes that are on the way at most before the other thread has said what became of them; and after how many it does. */
export const handoverWindow = { most: 65_536, said: 16_384 };

/** A copy that can be given away: what was read stands in memory that is used again. */
export function ownBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}
