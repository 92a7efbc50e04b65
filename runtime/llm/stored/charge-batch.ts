import type { LlmCall } from "../../cel/variables.ts";
import { type Exchange, logFields } from "../../http/exchange.ts";
import { countTokens } from "../calls/count-tokens.ts";
import { costOf, ratesOf } from "../chat/prices.ts";
import type { BatchRequests } from "./batch-requests.ts";

/** Charges limits the estimated tokens of the requests of a batch. Its responses are not known yet. */
export function chargeBatch(
  { record }: Exchange,
  { tokens, model, store: { provider } }: BatchRequests,
): void {
  const price = provider.prices?.get(model);
  const usage = { input: tokens, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: undefined };
  const call: LlmCall = {
    ...{ streaming: false, provider: provider.system, requestModel: model, responseModel: model },
    ...{ inputTokens: tokens, cachedInputTokens: 0, cacheCreationInputTokens: 0 },
    ...{ outputTokens: 0, totalTokens: tokens },
    ...(price !== undefined && { cost: costOf(ratesOf(price, usage), usage) }),
  };
  const fields = logFields(record);
  fields.set("gen_ai.request.model", model);
  fields.set("gen_ai.usage.input_tokens", String(tokens));
  if (call.cost !== undefined)
    fields.set("gen_ai.cost", String(Number(call.cost.total.toFixed(9))));
  countTokens(record, call);
}
