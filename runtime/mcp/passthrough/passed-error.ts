import type { Exchange } from "../../http/exchange.ts";
import { readMessageBytes } from "../protocol/message.ts";
import { noteResponseError } from "../rules/mcp-metrics.ts";

/** What stands in a response that says of a failure, as servers write it. */
const SIGNS = ['"error"', '"isError":true', '"isError": true'] as const;

/** A part of all of them. */
const COMMON_PART = 'rror"';

/**
 * Notes what a piece of a response that passes unread says of a failure. Only a piece that may say so is read, and only one
 * that is a whole response, or whole events, as all but long ones are.
 */
export function notePassedError(exchange: Exchange, piece: Buffer): void {
  if (!piece.includes(COMMON_PART) || !SIGNS.some((sign) => piece.includes(sign))) return;
  for (const bytes of messagesOf(piece)) {
    const message = readMessageBytes(bytes);
    if (message.kind === "response") noteResponseError(exchange, message);
  }
}

/** The body, or the data of events, which servers write in one line each. */
function messagesOf(piece: Buffer): readonly Buffer[] {
  const text = piece.toString("latin1");
  if (text.trimStart().startsWith("{")) return [piece];
  const found = text.matchAll(/^data: ?(\{.*\})\r?$/gm);
  return [...found].map(([, data = ""]) => Buffer.from(data, "latin1"));
}
