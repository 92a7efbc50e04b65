import type { Exchange } from "../../http/exchange.ts";
import { type ChatCall, readCallOf } from "./chat-call.ts";

/**
 * Reads a call whose path names the model, and whether the response is streamed. They become members of the body, as in other
 * formats. Throws LlmRefusal.
 */
export function readPathCall(exchange: Exchange, name: string, isStream: boolean): ChatCall {
  const body = Buffer.from(exchange.bufferedBody ?? new Uint8Array());
  return readCallOf(exchange, withMembers(body, { model: modelOf(name), stream: isStream }));
}

/** Adds members to the start of an object. Returns anything else unchanged. */
function withMembers(body: Buffer, members: Readonly<Record<string, unknown>>): Buffer {
  const [start] = /^\s*\{\s*/.exec(body.toString("latin1", 0, MAX_START)) ?? [];
  if (start === undefined) return body;
  const isEmpty = body.at(start.length) === "}".charCodeAt(0);
  const added = JSON.stringify(members).slice(0, -1) + (isEmpty ? "" : ",");
  return Buffer.concat([Buffer.from(added), body.subarray(start.length)]);
}

/** Maximum number of bytes before the first member. */
const MAX_START = 1024;

function modelOf(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
