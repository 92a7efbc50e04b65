import type { ShownCertificate } from "../../../net/connected-client.ts";
import type { Framing } from "../engine.ts";

/** A message between the thread with a request's connection and the thread that serves it. */
export type HandoverMessage = HandedOver | BodyPart | ResponsePart;

/** The head of a request, with the facts about its connection. */
export interface HandedOver {
  readonly kind: "request";
  /** Name of the port whose handlers serve it. */
  readonly port: string;
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly httpVersion: string;
  readonly acceptsTrailers: boolean;
  readonly framing: Framing;
  readonly connection: HandedOverConnection;
  /** The body, if all of it has arrived. */
  readonly body: Uint8Array | undefined;
  readonly trailers: readonly string[] | undefined;
  /** Protocol that the client requests and that its connection can switch to. */
  readonly upgrade: string | undefined;
}

/** An `EngineConnection` as data. */
export interface HandedOverConnection {
  readonly remoteAddress: string | undefined;
  readonly remotePort: number | undefined;
  readonly peerAddress: string | undefined;
  readonly peerPort: number | undefined;
  readonly localAddress: string | undefined;
  readonly localPort: number | undefined;
  readonly encrypted: boolean;
  readonly servername: string | undefined;
  readonly authorized: boolean;
  readonly certificate: ShownCertificate | undefined;
}

/** A message about the body, about bytes after the connection has left HTTP, or about the client. */
type BodyPart =
  | { readonly kind: "body"; readonly bytes: Uint8Array }
  | { readonly kind: "bodyEnd"; readonly trailers: readonly string[] | undefined }
  | { readonly kind: "bodyAbort" }
  /** The client has received so many bytes of the response. */
  | { readonly kind: "sent"; readonly bytes: number }
  /** The response is over. */
  | { readonly kind: "close"; readonly isFinished: boolean };

/** A message to the thread with the connection. */
type ResponsePart =
  | { readonly kind: "flow" }
  | { readonly kind: "discard" }
  /** So many bytes of the body were read. */
  | { readonly kind: "read"; readonly bytes: number }
  | { readonly kind: "continue" }
  | HandedBack
  /** Switch to the other protocol, with these fields. */
  | { readonly kind: "switch"; readonly fields: readonly string[] }
  | { readonly kind: "destroy" }
  | { readonly kind: "reset" }
  /** The thread does not serve the request. */
  | { readonly kind: "gone" };

/** A piece of the response. */
export interface HandedBack {
  readonly kind: "response";
  readonly head: { readonly status: number; readonly fields: readonly string[] } | undefined;
  readonly bytes: Uint8Array | undefined;
  readonly trailers: readonly string[] | undefined;
  readonly isLast: boolean;
}

/** Maximum bytes in flight that are unconfirmed, and the number of bytes after which they are confirmed. */
export const handoverWindow = { max: 65_536, confirmAfter: 16_384 };

/** Copies bytes so that they can be transferred: received bytes are in memory that is reused. */
export function ownBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}
