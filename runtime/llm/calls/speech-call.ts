import type { Exchange } from "../../http/exchange.ts";
import { type ChatCall, readCall } from "./chat-call.ts";

/** Reads a request for speech, which names its stream in a field of its own. Throws LlmRefusal. */
export function readSpeechCall(exchange: Exchange): ChatCall {
  const call = readCall(exchange);
  const { members, text } = call;
  const format = members.find(({ key }) => key === "stream_format");
  const isStream = format !== undefined && text.slice(format.start, format.end) === '"sse"';
  return call.with({ isStream });
}
