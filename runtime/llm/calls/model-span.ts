import type { CallSpan, ExchangeTrace } from "../../http/exchange-trace.ts";
import { describeCall } from "../../http/upstream/traced-request.ts";
import type { UpstreamCall } from "../../http/upstream/upstream.ts";
import type { Provider } from "../providers/provider.ts";
import type { AttemptOutcome } from "./attempt-outcome.ts";

/** What a span of a model's call says when it begins. */
export interface ModelCallFacts {
  readonly provider: Provider;
  readonly model: string;
  /** `chat`, `embeddings`. */
  readonly operation: string;
}

/** Begins the span of a request to a provider, by OpenTelemetry's conventions for generative AI: `chat gpt-4o`. */
export function beginModelCall(
  trace: ExchangeTrace | undefined,
  { provider, model, operation }: ModelCallFacts,
  call: UpstreamCall,
): CallSpan | undefined {
  if (trace === undefined) return undefined;
  const span = trace.beginCall(`${operation} ${model}`);
  span.text("gen_ai.operation.name", operation);
  span.text("gen_ai.provider.name", provider.system);
  span.text("gen_ai.request.model", model);
  describeCall(span, provider.upstream, call);
  return span;
}

/** Ends it with what came of the request. */
export function endModelCall(span: CallSpan, outcome: AttemptOutcome): void {
  if (outcome.kind === "abandoned") {
    span.end("aborted");
    return;
  }
  span.number("http.response.status_code", outcome.head?.status);
  if (outcome.kind === "responded") {
    const { model, id, usage, finish } = outcome.facts;
    span.text("gen_ai.response.model", model);
    span.text("gen_ai.response.id", id);
    span.list("gen_ai.response.finish_reasons", finish === undefined ? undefined : [finish]);
    span.number("gen_ai.usage.input_tokens", usage?.input);
    span.number("gen_ai.usage.output_tokens", usage?.output);
  }
  span.end(outcome.error?.kind);
}
