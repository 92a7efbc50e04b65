import type { JsonObject } from "../../../cel/variables.ts";
import type { OriginalRequest } from "../../chat/formats.ts";
import type { StopReason } from "../../chat/response.ts";
import type { Usage } from "../../chat/usage.ts";
import { randomId } from "../random-id.ts";
import { tierWord } from "../service-tiers.ts";
import { responsesUsage } from "./usage.ts";

/** State of a response, in progress or complete. */
export interface ResponseState {
  readonly id: string;
  /** Unix time in seconds. */
  readonly createdAt: number;
  readonly model: string;
  readonly output: readonly JsonObject[];
  /** Absent while it is in progress. */
  readonly end?: ResponseEnd;
}

/** Outcome of a response. */
export type ResponseEnd =
  | { readonly kind: "stopped"; readonly stop: StopReason; readonly usage: Usage | undefined }
  | { readonly kind: "failed"; readonly code: string; readonly message: string };

/** Writes a response of the Responses API, which repeats the client's parameters. */
export function responseObject(
  { body }: Pick<OriginalRequest, "body" | "model">,
  state: ResponseState,
): JsonObject {
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
    service_tier: end?.kind === "stopped" ? tierWord("openai", end.usage?.tier) : undefined,
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

/** Returns `status` of a response that ended. */
export function endStatus(end: ResponseEnd): "completed" | "incomplete" | "failed" {
  if (end.kind === "failed") return "failed";
  return incompleteReason(end.stop) === undefined ? "completed" : "incomplete";
}

/** Returns the reason why a response is incomplete; `undefined` if it is complete. */
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

/** Creates an id of the gateway: `msg_...`. */
export function newId(prefix: "resp" | "msg" | "fc" | "rs" | "ws" | "ci" | "mcp"): string {
  return `${prefix}_${randomId()}`;
}
