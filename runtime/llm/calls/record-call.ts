import { type Exchange, logFields } from "../../http/exchange.ts";
import type { NotedFields } from "../../http/noted-fields.ts";
import { SECOND } from "../../process/units.ts";
import { dollarText } from "../chat/prices.ts";
import type { Usage } from "../chat/usage.ts";
import type { Provider } from "../providers/provider.ts";
import type { AttemptOutcome } from "./attempt-outcome.ts";
import { CallAttributes } from "./call-attributes.ts";
import type { ChatCall } from "./chat-call.ts";
import type { ChatService } from "./chat-service.ts";
import { countTokens, usedFacts } from "./count-tokens.ts";
import { type ModelCallFigures, ModelMetrics, timePerToken } from "./model-metrics.ts";
import type { LlmTarget } from "./target.ts";

/** Logs the parameters of a request, by the names of OpenTelemetry's conventions for generative AI. */
export function recordCall(
  { record, attributes }: Exchange,
  call: ChatCall,
  { operation, messages }: Pick<ChatService, "operation" | "messages">,
): CallAttributes {
  const { model, members, text } = call;
  const noted = new CallAttributes(call, messages);
  attributes.llm = noted;
  const fields = logFields(record);
  fields.set("protocol", "llm");
  fields.set("gen_ai.operation.name", operation);
  if (model !== undefined) fields.set("gen_ai.request.model", model);
  for (const { key, start, end } of members) {
    if (!isNumberAt(text, start)) continue;
    const field = PARAMETERS.get(key);
    if (field !== undefined) fields.set(field, String(Number(text.slice(start, end))));
  }
  return noted;
}

/** Decides by the first character. */
function isNumberAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === 0x2d || (code >= 0x30 && code <= 0x39);
}

/** Parameters of any format, and the names that they are logged as. */
const PARAMETERS: ReadonlyMap<string, string> = new Map([
  ["temperature", "gen_ai.request.temperature"],
  ["top_p", "gen_ai.request.top_p"],
  ["max_tokens", "gen_ai.request.max_tokens"],
  ["max_completion_tokens", "gen_ai.request.max_tokens"],
  ["max_output_tokens", "gen_ai.request.max_tokens"],
  ["frequency_penalty", "gen_ai.request.frequency_penalty"],
  ["presence_penalty", "gen_ai.request.presence_penalty"],
  ["seed", "gen_ai.request.seed"],
  ["dimensions", "gen_ai.embeddings.dimension.count"],
]);

/** One request to a provider. */
export interface ProviderCall {
  readonly target: LlmTarget;
  /** Requested model, by its name at the provider. */
  readonly model: string;
  readonly operation: string;
  /** The call that it serves. */
  readonly call: ChatCall;
  /** Time of the request, in milliseconds of the monotonic clock. */
  readonly start: number;
  /** Attributes of the request that expressions read. */
  readonly attributes: CallAttributes;
}

/** Logs the provider of a request. */
export function recordProvider({ record }: Exchange, { system, upstream }: Provider): void {
  logFields(record).set("protocol", "llm").set("gen_ai.provider.name", system);
  record.upstream = upstream.name;
}

/** Logs and counts the provider and the outcome of a request. */
export function recordResponse(
  { record, gateway }: Exchange,
  call: ProviderCall,
  outcome: AttemptOutcome,
): void {
  const { name, system, health, prices } = call.target.provider;
  const fields = logFields(record);
  fields.set("gen_ai.provider.name", system);
  const error = outcome.kind === "abandoned" ? undefined : outcome.error;
  if (error === undefined) fields.delete("error.type");
  else fields.set("error.type", error.kind);
  const metrics = gateway.metrics.part(ModelMetrics);
  const called = figures(call, outcome);
  metrics.call(called);
  if (health !== undefined) metrics.provider(record.route ?? "unknown", name, health);
  if (outcome.kind === "failed") return;
  call.attributes.note(usedFacts(call, outcome), call.model, prices);
  call.attributes.noteTimes(called.firstToken, timePerToken(called));
  const { cost } = call.attributes;
  if (cost !== undefined) {
    fields.set("gen_ai.cost", dollarText(cost.total));
    metrics.cost(called, cost.total);
  } else if (call.operation !== "count_tokens") metrics.unpriced(called);
  if (call.operation !== "count_tokens") countTokens(record, call.attributes);
  if (outcome.kind === "abandoned") return;
  const { model, id, usage, units, finish } = outcome.facts;
  if (model !== undefined) fields.set("gen_ai.response.model", model);
  if (id !== undefined) fields.set("gen_ai.response.id", id);
  if (finish !== undefined) fields.set("gen_ai.response.finish_reasons", finish);
  if (usage !== undefined) recordUsage(fields, usage);
  if (units === undefined) return;
  for (const [unit, count] of Object.entries(units)) fields.set(`llm.${unit}`, String(count));
}

function figures(call: ProviderCall, outcome: AttemptOutcome): ModelCallFigures {
  const { target, model, operation, start } = call;
  const { isStream } = call.call;
  const hasResponse = outcome.kind === "responded";
  const firstContent = hasResponse && isStream ? outcome.firstContent : undefined;
  return {
    operation,
    provider: target.provider.system,
    requestModel: model,
    responseModel: hasResponse ? outcome.facts.model : undefined,
    errorType: outcome.kind === "abandoned" ? "client-gone" : outcome.error?.kind,
    duration: (performance.now() - start) / SECOND,
    firstToken: firstContent && (firstContent - start) / SECOND,
    usage: hasResponse ? outcome.facts.usage : undefined,
  };
}

/** Logs the token counts of a call. */
export function recordUsage(fields: NotedFields, usage: Usage): void {
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
