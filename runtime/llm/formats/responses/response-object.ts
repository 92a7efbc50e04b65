import type { JsonObject } from "../../../cel/variables.ts";
import type { AskedRequest } from "../../chat/formats.ts";
import type { StopReason } from "../../chat/response.ts";
import type { Usage } from "../../chat/usage.ts";
import { responsesUsage } from "./usage.ts";

/** What is known of a response while it is made, and of one that is done. */
export interface ResponseState {
  readonly id: string;
  /** Unix time in seconds. */
  readonly createdAt: number;
  readonly model: string;
  readonly output: readonly JsonObject[];
  /** Absent: it is still being made. */
  readonly end?: ResponseEnd;
}

/** How a response ended. */
export type ResponseEnd =
  | { readonly kind: "stopped"; readonly stop: StopReason; readonly usage: Usage | undefined }
  | { readonly kind: "failed"; readonly code: string; readonly message: string };

/** A response of the Responses API: what the client asked for stands in it again. */
export function responseObject({ body }: AskedRequest, state: ResponseState): JsonObject {
  const { id, createdAt, model, output, end } = state;
  const reason = end?.kind === "stopped" ? incompleteReason(end.stop) : undefined;
  return {
    id,
    object: "response",
    created_at: createdAt,
    status: end === undefined ? "in_progress" : endStatus(end),
    background: false,
    error: end?.kind === "failed" ? { code: end.code, message: end.message } : null,
    incomplete_details: reason === undefined ? null : { reason },
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    metadata: body.metadata ?? {},
    model,
    output,
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    previous_response_id: null,
    reasoning: body.reasoning ?? { effort: null, summary: null },
    store: false,
    temperature: body.temperature ?? null,
    text: { format: { type: "text" }, ...textOf(body.text) },
    tool_choice: body.tool_choice ?? "auto",
    tools: body.tools ?? [],
    top_p: body.top_p ?? null,
    truncation: "disabled",
    usage: end?.kind === "stopped" && end.usage ? responsesUsage(end.usage) : undefined,
  };
}

/** `status` of a response that ended. */
export function endStatus(end: ResponseEnd): "completed" | "incomplete" | "failed" {
  if (end.kind === "failed") return "failed";
  return incompleteReason(end.stop) === undefined ? "completed" : "incomplete";
}

/** Why a response is not all that it could have been; undefined: it is. */
function incompleteReason(stop: StopReason): string | undefined {
  switch (stop) {
    case "length":
      return "max_output_tokens";
    case "filtered":
      return "content_filter";
    default:
      return undefined;
  }
}

function textOf(text: unknown): object {
  return typeof text === "object" && text !== null ? text : {};
}

/** An id of the gateway's own making: `msg_...`. */
export function newId(prefix: "resp" | "msg" | "fc" | "rs"): string {
  return `${prefix}_${crypto.randomUUID().replaceAll("-", "")}`;
}
