import { readBeginning, readWhole } from "../../http/buffer-body.ts";
import type { Exchange } from "../../http/exchange.ts";

/** Settings for sending a request's body to the server. */
export interface BodyForwarding {
  /** Bytes. */
  readonly maxSize: number;
  /** Whether a longer body is truncated instead of refused. */
  readonly allowsPart: boolean;
  /** Whether the body is sent as bytes instead of a string. */
  readonly asBytes: boolean;
}

/** The body for the server, or its beginning. */
export interface ForwardedBody {
  readonly bytes: Uint8Array;
  readonly isPart: boolean;
  readonly asBytes: boolean;
}

/** Envoy's header that tells a server whether it has received only a part of the body. */
export const PARTIAL_BODY_HEADER = "x-envoy-auth-partial-body";

/** Setting of the limit, in files and in manifests. */
const SETTING = "includeRequestBody.maxRequestBytes, forwardBody.maxSize in manifests";

/**
 * Reads the request's body for the server; the backend still receives it. Returns `undefined` if the request was refused or
 * the client disconnected.
 */
export async function forwardedBody(
  exchange: Exchange,
  { maxSize, allowsPart, asBytes }: BodyForwarding,
): Promise<ForwardedBody | undefined> {
  if (allowsPart) {
    const beginning = await readBeginning(exchange, maxSize);
    return beginning && { bytes: beginning.bytes, isPart: beginning.isPart, asBytes };
  }
  const bytes = await readWhole(exchange, maxSize, SETTING);
  return bytes && { bytes, isPart: false, asBytes };
}
