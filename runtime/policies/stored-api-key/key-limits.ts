import type { LlmCall } from "../../cel/variables.ts";
import type { Exchange, TokenCounter } from "../../http/exchange.ts";
import { refuse } from "../../http/refuse.ts";
import type { CounterUse } from "../../store/store.ts";
import type { CountedUnit, KeyLimit, StoredKey } from "../../store/stored-key.ts";
import { noteRateLimited } from "../../telemetry/rate-limited.ts";
import { resetTime } from "../local-rate-limit/limit-facts.ts";
import { applyingLimits } from "../model-calls.ts";
import { StoreCounts } from "./store-counts.ts";

/** Requests whose limits were counted, so that a listener and its route count one request once. */
const counted = new WeakMap<Exchange["record"], string>();

/** Counts a request against the limits of its key; if one is used up, refuses it with 429 and resolves to true. */
export async function refuseOverKeyLimits(exchange: Exchange, key: StoredKey): Promise<boolean> {
  const { record, gateway } = exchange;
  const { store } = gateway;
  const { id } = key;
  const limits = applyingLimits(exchange, key.limits);
  if (limits.length === 0 || store === undefined || counted.get(record) === id) return false;
  counted.set(record, id);
  const counts = StoreCounts.of(store, gateway.warn);
  const result = await counts.add(
    limits.map((limit) => useOf(id, limit, limit.counts === "requests" ? 1 : 0, limit.amount)),
  );
  if (!result.isGranted) {
    refuseFor(exchange, limits[result.refused], result.resetsIn);
    return true;
  }
  const ofCalls = limits.filter(({ counts: unit }) => unit !== "requests");
  if (ofCalls.length > 0) {
    record.tokenCounters ??= [];
    record.tokenCounters.push(new KeyCounter(exchange, counts, id, ofCalls));
  }
  return false;
}

/** Charges the usage of a call to the limits of a key. Calls in flight are charged when they end. */
class KeyCounter implements TokenCounter {
  readonly #exchange: Exchange;
  readonly #counts: StoreCounts;
  readonly #id: string;
  readonly #limits: readonly KeyLimit[];

  constructor(exchange: Exchange, counts: StoreCounts, id: string, limits: readonly KeyLimit[]) {
    this.#exchange = exchange;
    this.#counts = counts;
    this.#id = id;
    this.#limits = limits;
  }

  expect(): boolean {
    return true;
  }

  count(call: LlmCall): void {
    const uses = this.#limits.flatMap((limit) => {
      const amount = limit.counts === "tokens" ? call.totalTokens : call.cost?.total;
      if (amount === undefined) {
        this.#counts.warnUncounted(limit.counts, call, this.#exchange.record.route);
        return [];
      }
      return amount > 0 ? [useOf(this.#id, limit, amount)] : [];
    });
    if (uses.length > 0) this.#counts.charge(uses);
  }

  release(): void {}
}

function useOf(id: string, limit: KeyLimit, amount: number, max?: number): CounterUse {
  const { counts, period } = limit;
  return { id: `${id}:${counts}`, period, amount, ...(max !== undefined && { limit: max }) };
}

const NAMES: Readonly<Record<CountedUnit, string>> = {
  requests: "requests",
  tokens: "tokens",
  cost: "budget",
};

function refuseFor(exchange: Exchange, limit: KeyLimit | undefined, resetsIn: number): void {
  if (limit === undefined) return;
  const what = `${NAMES[limit.counts]} of the API key per ${limit.period}`;
  noteRateLimited(exchange, "apiKey", what);
  const seconds = String(Math.max(1, Math.ceil(resetsIn / 1000)));
  const words =
    limit.counts === "cost"
      ? `the ${what} (${limit.amount} US dollars) is spent`
      : `rate limit exceeded: ${what}`;
  refuse(exchange, 429, "RateLimit", `${words}; it resets at ${resetTime(resetsIn)}`, [
    ...["x-ratelimit-limit", String(limit.amount), "x-ratelimit-remaining", "0"],
    ...["x-ratelimit-reset", seconds, "retry-after", seconds],
  ]);
}
