import type { Exchange } from "../../http/exchange.ts";
import type { ChatCall } from "./chat-call.ts";
import { readPathCall } from "./path-call.ts";

/** Matches the path of a call to Converse, whatever is before `/model/`. */
const PATH = /\/model\/(.+)\/(converse|converse-stream)$/;

/** Reads a call to Bedrock's Converse. Throws LlmRefusal. */
export function readConverseCall(exchange: Exchange): ChatCall {
  const [, name = "", method] = PATH.exec(exchange.path) ?? [];
  return readPathCall(exchange, name, method === "converse-stream");
}
