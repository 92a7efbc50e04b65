import { JsonBody } from "../../json/json-body.ts";
import { objectMembers, skipSpace } from "../../json/json-text.ts";
import { mapTexts, type TextFormat } from "../chat/texts.ts";
import type { GuardRun } from "../guards/guard-run.ts";
import type { ChatCall } from "./chat-call.ts";

/** The call with its texts masked; the call itself when nothing of it is. What a guard rejects is not to be sent. */
export function guardCall(call: ChatCall, format: TextFormat, run: GuardRun): ChatCall {
  const changed = format.request.flatMap((key) => {
    const value = call.body[key];
    const next = mapTexts(value, run);
    return next === value ? [] : [[key, next] as const];
  });
  if (changed.length === 0) return call;
  const edited = new JsonBody(call.text, call.members);
  for (const [key, value] of changed) edited.set(key, JSON.stringify(value));
  const text = edited.toString();
  const members = objectMembers(text, skipSpace(text, 0));
  return { ...call, text, members, body: { ...call.body, ...Object.fromEntries(changed) } };
}
