import { decodeBody } from "./body/content-coding.ts";
import type { Exchange } from "./exchange.ts";
import { refuse } from "./refuse.ts";

/**
 * Holds the request until its body is there, for expressions that read `request.body`: its content, decoded. False: the
 * request was answered (413 beyond `limit` bytes, also decoded ones; 415, 400), or the client is gone.
 */
export async function bufferBody(exchange: Exchange, limit: number): Promise<boolean> {
  if (exchange.bufferedBody !== undefined) return true;
  const body = await exchange.readBody(limit);
  if (body === "aborted") return false;
  if (body === "too-large") return refuseBody(exchange, 413, "request body too large");
  const content = await decodeBody(body, exchange.header("content-encoding"), limit);
  switch (content) {
    case "too-large":
      return refuseBody(exchange, 413, "request body too large");
    case "unknown":
      return refuseBody(exchange, 415, "Content-Encoding is not supported");
    case "malformed":
      return refuseBody(exchange, 400, "request body is not what Content-Encoding says");
    default:
      exchange.bufferedBody = content;
      return true;
  }
}

function refuseBody(exchange: Exchange, status: 400 | 413 | 415, message: string): false {
  refuse(exchange, status, status === 413 ? "BodyTooLarge" : "BadRequest", message);
  return false;
}
