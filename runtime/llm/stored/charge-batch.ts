import type { JsonObject, LlmCall } from "../../cel/variables.ts";
import { type Exchange, logFields } from "../../http/exchange.ts";
import { isJsonObject } from "../../json/json-object.ts";
import type { GatewayContext } from "../../process/gateway-context.ts";
import { StoreError } from "../../store/store.ts";
import { DAY } from "../../store/usage.ts";
import { countTokens } from "../calls/count-tokens.ts";
import { costOfTokens, dollarText } from "../chat/prices.ts";
import type { Usage } from "../chat/usage.ts";
import { readCompletionsUsage } from "../formats/completions/usage.ts";
import { readMessagesUsage } from "../formats/messages/usage.ts";
import { readResponsesUsage } from "../formats/responses/usage.ts";
import type { Provider } from "../providers/provider.ts";
import type { Stored } from "./object-store.ts";

/** Share of the usual prices that providers bill for batches. */
const BATCH_PRICE = 0.5;

/** Charges the input of requests of a batch. */
export function chargeInput(
  exchange: Exchange,
  provider: Provider,
  model: string,
  input: number,
): void {
  charge(exchange, provider, model, { ...NO_TOKENS, input });
}

const NO_TOKENS: Usage = {
  ...{ input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  reasoning: undefined,
};

function charge({ record }: Exchange, provider: Provider, model: string, usage: Usage): void {
  const cost = costOfTokens(provider.prices, model, usage, BATCH_PRICE);
  const { input, output } = usage;
  const call: LlmCall = {
    ...{ streaming: false, provider: provider.system, requestModel: model, responseModel: model },
    ...{ inputTokens: input, cachedInputTokens: 0, cacheCreationInputTokens: 0 },
    ...{ outputTokens: output, totalTokens: input + output },
    ...(cost && { cost }),
  };
  const fields = logFields(record);
  if (input > 0) fields.set("gen_ai.usage.input_tokens", String(input));
  if (output > 0) fields.set("gen_ai.usage.output_tokens", String(output));
  if (cost !== undefined) fields.set("gen_ai.cost", dollarText(cost.total));
  countTokens(record, call);
}

/** Output of one response of a batch. */
export interface ResultUsage {
  readonly model: string;
  readonly output: number;
}

/** Returns the output of a response; `undefined` if it reports none. */
export function outputOf({ model, usage, object }: JsonObject): ResultUsage | undefined {
  if (typeof model !== "string" || !isJsonObject(usage)) return undefined;
  const read =
    usage.prompt_tokens !== undefined
      ? readCompletionsUsage(usage)
      : object === "response"
        ? readResponsesUsage(usage)
        : readMessagesUsage(usage);
  return read && { model, output: read.output };
}

/**
 * Charges the output of a batch whose results the caller has read. Its input was charged with the requests. Lines that were
 * charged before are not charged again: in the store for all replicas, or else in this process.
 */
export async function chargeResults(
  exchange: Exchange,
  { store: { provider }, id }: Stored,
  usages: readonly (ResultUsage | undefined)[],
): Promise<void> {
  const key = `${provider.upstream.authority} ${id}`;
  const from = await claimLines(exchange.gateway, key, usages.length).catch((error: unknown) => {
    if (!(error instanceof StoreError)) throw error;
    // Better twice than never.
    return 0;
  });
  const outputs = new Map<string, number>();
  for (const usage of usages.slice(from)) {
    if (usage === undefined) continue;
    outputs.set(usage.model, (outputs.get(usage.model) ?? 0) + usage.output);
  }
  for (const [model, output] of outputs) {
    charge(exchange, provider, model, { ...NO_TOKENS, output });
  }
}

/** Lines of results that were charged, by gateway and results. */
const claims = new WeakMap<GatewayContext["metrics"], Map<string, number>>();

/** Maximum number of results that a process without a store remembers. */
const MAX_CLAIMS = 10_000;

/** How long providers store results at least, in milliseconds. */
const KEPT = 60 * DAY;

/** Notes that the first lines of results are charged. Returns how many were before. */
async function claimLines(
  { store, metrics }: GatewayContext,
  key: string,
  lines: number,
): Promise<number> {
  if (store === undefined) {
    const known = claims.get(metrics) ?? new Map<string, number>();
    claims.set(metrics, known);
    const before = known.get(key) ?? 0;
    known.delete(key);
    known.set(key, Math.max(before, lines));
    const [oldest] = known.keys();
    if (known.size > MAX_CLAIMS && oldest !== undefined) known.delete(oldest);
    return before;
  }
  for (;;) {
    const was = await store.read("charged-results", key);
    const before = Number(was ?? 0);
    if (before >= lines) return before;
    const change = { was, value: String(lines), expires: Date.now() + KEPT };
    if (await store.replace("charged-results", key, change)) return before;
  }
}
