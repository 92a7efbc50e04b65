import { readBeginning, readWhole } from "../http/buffer-body.ts";
import type { Exchange } from "../http/exchange.ts";
import { HeldResponse } from "../http/held-response.ts";

/**
 * Waits for the whole request body. Returns false if the request was refused (413 beyond `limit` bytes, 408, 503), or if
 * the client has left. The body of an upgrade is the connection, which is not read. `setting`: the setting that raises the
 * limit; absent if it is the gateway's.
 */
export async function bufferRequest(
  exchange: Exchange,
  limit: number,
  setting?: string,
): Promise<boolean> {
  if (exchange.upgrade !== undefined || exchange.isTunnel) return true;
  return (await readWhole(exchange, limit, setting)) !== undefined;
}

/** Waits for the whole request body, or for its first `limit` bytes: the rest of a larger one is streamed. */
export async function bufferBeginning(exchange: Exchange, limit: number): Promise<boolean> {
  if (exchange.upgrade !== undefined || exchange.isTunnel) return true;
  return (await readBeginning(exchange, limit)) !== undefined;
}

/** Sends a response when its body is complete; one with more than `limit` bytes becomes a 502. */
export function bufferResponse(exchange: Exchange, limit: number): void {
  exchange.interceptResponse((next) => new HeldResponse(exchange, next, { limit }));
}

/** Sends a response when its body is complete, or has more than `limit` bytes. */
export function bufferResponseBeginning(exchange: Exchange, limit: number): void {
  const held = { limit, streamsLarger: true };
  exchange.interceptResponse((next) => new HeldResponse(exchange, next, held));
}
