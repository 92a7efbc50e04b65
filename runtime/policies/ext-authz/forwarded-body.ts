import { readBeginning, readWhole } from "../../http/buffer-body.ts";
import type { Exchange } from "../../http/exchange.ts";

/** How much of a request's body the server gets. */
export interface BodyForwarding {
  /** Bytes. */
  readonly maxSize: number;
  /** A longer body is cut; else it is refused. */
  readonly allowsPart: boolean;
  /** Not as text. */
  readonly asBytes: boolean;
}

/** The body that the server gets, or its beginning. */
export interface ForwardedBody {
  readonly bytes: Uint8Array;
  readonly isPart: boolean;
  readonly asBytes: boolean;
}

/** The header that says whether a server has a part of the body, as Envoy names it. */
export const PARTIAL_BODY_HEADER = "x-envoy-auth-partial-body";

/** The request's body for the server; it stays there for the backend. Undefined: the request was refused, or the client left. */
export async function forwardedBody(
  exchange: Exchange,
  { maxSize, allowsPart, asBytes }: BodyForwarding,
): Promise<ForwardedBody | undefined> {
  if (allowsPart) {
    const beginning = await readBeginning(exchange, maxSize);
    return beginning && { bytes: beginning.bytes, isPart: beginning.isPart, asBytes };
  }
  const bytes = await readWhole(exchange, maxSize);
  return bytes && { bytes, isPart: false, asBytes };
}
