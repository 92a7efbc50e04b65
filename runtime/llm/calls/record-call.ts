import type { Exchange } from "../../http/exchange.ts";
import type { Usage } from "../chat/usage.ts";
import type { AttemptOutcome } from "./attempt.ts";
import type { ChatCall } from "./chat-call.ts";
import type { LlmTarget } from "./target.ts";

/** Notes what a request asks for, by the names of OpenTelemetry's conventions for generative AI. */
export function recordCall(
  { record }: Exchange,
  { body, model }: ChatCall,
  operation: string,
): void {
  record.fields ??= new Map();
  const { fields } = record;
  fields.set("gen_ai.operation.name", operation);
  if (model !== undefined) fields.set("gen_ai.request.model", model);
  for (const [name, field] of parameters) {
    const value = body[name];
    if (typeof value === "number") fields.set(field, String(value));
  }
}

/** Parameters of any format, and the fields that they are logged as. */
const parameters = [
  ["temperature", "gen_ai.request.temperature"],
  ["top_p", "gen_ai.request.top_p"],
  ["max_tokens", "gen_ai.request.max_tokens"],
  ["max_completion_tokens", "gen_ai.request.max_tokens"],
  ["max_output_tokens", "gen_ai.request.max_tokens"],
  ["frequency_penalty", "gen_ai.request.frequency_penalty"],
  ["presence_penalty", "gen_ai.request.presence_penalty"],
  ["seed", "gen_ai.request.seed"],
  ["dimensions", "gen_ai.embeddings.dimension.count"],
] as const;

/** Notes who was asked, and what came of it. */
export function recordResponse(
  { record }: Exchange,
  target: LlmTarget,
  outcome: AttemptOutcome,
): void {
  record.fields ??= new Map();
  const { fields } = record;
  fields.set("gen_ai.provider.name", target.provider.system);
  const error = outcome.kind === "abandoned" ? undefined : outcome.error;
  if (error === undefined) fields.delete("error.type");
  else fields.set("error.type", error.kind);
  if (outcome.kind !== "responded") return;
  const { model, id, usage, finish } = outcome.facts;
  if (model !== undefined) fields.set("gen_ai.response.model", model);
  if (id !== undefined) fields.set("gen_ai.response.id", id);
  if (finish !== undefined) fields.set("gen_ai.response.finish_reasons", finish);
  if (usage !== undefined) recordUsage(fields, usage);
}

function recordUsage(fields: Map<string, string>, usage: Usage): void {
  fields.set("gen_ai.usage.input_tokens", String(usage.input));
  fields.set("gen_ai.usage.output_tokens", String(usage.output));
  if (usage.cacheRead > 0) {
    fields.set("gen_ai.usage.cache_read.input_tokens", String(usage.cacheRead));
  }
  if (usage.cacheWrite > 0) {
    fields.set("gen_ai.usage.cache_creation.input_tokens", String(usage.cacheWrite));
  }
  if (usage.reasoning !== undefined) {
    fields.set("gen_ai.usage.reasoning.output_tokens", String(usage.reasoning));
  }
}
