import type { BodySource } from "../../http/body/body.ts";
import { PeekedBody } from "../../http/body/peeked-body.ts";
import { bodyRefusals, readWhole, refuseBody } from "../../http/buffer-body.ts";
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

/** The request's body for the server; it stays there for the backend. Undefined: the request was refused, or the client left. */
export async function forwardedBody(
  exchange: Exchange,
  { maxSize, allowsPart, asBytes }: BodyForwarding,
): Promise<ForwardedBody | undefined> {
  const { body } = exchange;
  if (allowsPart && isLong(body, maxSize)) {
    const peeked = new PeekedBody(body);
    const bytes = await peeked.peek(maxSize, exchange.newBuffer());
    if (bytes === undefined) {
      if (!exchange.isOver) refuseBody(exchange, bodyRefusals["no-room"]);
      return undefined;
    }
    exchange.setRequestBody(peeked);
    return { bytes: bytes.subarray(0, maxSize), isPart: bytes.length > maxSize, asBytes };
  }
  const bytes = await readWhole(exchange, maxSize);
  return bytes && { bytes, isPart: false, asBytes };
}

function isLong(body: Exchange["body"], maxSize: number): body is BodySource {
  if (body === null || body instanceof Uint8Array) return false;
  return body.length === undefined || body.length > maxSize;
}
