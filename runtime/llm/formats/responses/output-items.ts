import type { JsonObject } from "../../../cel/variables.ts";
import { writeReplay } from "./replay.ts";

/** How far an item of a response is. */
export type ItemStatus = "in_progress" | "completed" | "incomplete";

/** What the model says. */
export function messageItem(id: string, texts: readonly string[], status: ItemStatus): JsonObject {
  return { id, type: "message", status, role: "assistant", content: texts.map(textPart) };
}

/** A part of a message. */
export function textPart(text: string): JsonObject {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}

/** A call of a function. */
export function callItem(
  id: string,
  call: { readonly id: string; readonly name: string; readonly input: string },
  status: ItemStatus,
): JsonObject {
  const { id: callId, name, input } = call;
  return { id, type: "function_call", status, call_id: callId, name, arguments: input };
}

/** What the model thought. `encrypted`: what the provider wants to see again with it. */
export function reasoningItem(id: string, text: string, encrypted: string | undefined): JsonObject {
  return {
    id,
    type: "reasoning",
    summary: text === "" ? [] : [summaryPart(text)],
    ...(encrypted !== undefined && { encrypted_content: encrypted }),
  };
}

/** A part of a reasoning item. */
export function summaryPart(text: string): JsonObject {
  return { type: "summary_text", text };
}

/** `encrypted_content` of reasoning with a signature. */
export function signed(signature: string | undefined): string | undefined {
  return signature === undefined || signature === ""
    ? undefined
    : writeReplay({ kind: "signature", value: signature });
}

/** The item that goes before a call which the provider wants to see again with a signature. */
export function callSignatureItem(id: string, signature: string): JsonObject {
  return reasoningItem(id, "", writeReplay({ kind: "call", value: signature }));
}

/** The item of reasoning that nobody can read but the provider. */
export function redactedItem(id: string, data: string): JsonObject {
  return reasoningItem(id, "", writeReplay({ kind: "redacted", value: data }));
}
