import type { JsonObject } from "../../cel/variables.ts";
import { JsonBody } from "../../json/json-body.ts";
import { objectMembers, skipSpace } from "../../json/json-text.ts";
import type { ChatCall } from "./chat-call.ts";

/** The call with a body of which some members are others; the call itself when none is. */
export function withBody(call: ChatCall, body: JsonObject): ChatCall {
  if (body === call.body) return call;
  const edited = new JsonBody(call.text, call.members);
  for (const [key, value] of Object.entries(body)) {
    if (value !== call.body[key]) edited.set(key, JSON.stringify(value));
  }
  const text = edited.toString();
  return call.with({ text, members: objectMembers(text, skipSpace(text, 0)), body });
}
