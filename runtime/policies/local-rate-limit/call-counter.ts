import { numberOf } from "../../cel/values/values.ts";
import type { LlmCall } from "../../cel/variables.ts";
import type { Exchange, TokenCounter } from "../../http/exchange.ts";
import { type MaybePromise, thenMaybe } from "../../process/maybe-promise.ts";
import type { LimitBucket } from "./bucket.ts";
import type { LimitFacts } from "./limit-facts.ts";

/** Returns the cost of a model call: its tokens, or the value of an expression. */
export type CallCost = (call: LlmCall) => unknown;

/** Account that the calls of one request are charged to. */
export interface CallAccount {
  /** Takes an amount in advance. Returns false if too little is left; the request was then answered. */
  reserve(amount: number): MaybePromise<boolean>;
  /** Replaces what was taken in advance by what was used. */
  settle(reserved: number, used: number): void;
}

/** Charges the usage of one request to an account. */
export class CallCounter implements TokenCounter {
  readonly #exchange: Exchange;
  readonly #account: CallAccount;
  readonly #unpriced: Set<string>;
  readonly #cost: CallCost;
  /** The amount that was charged in advance. */
  #expected = 0;

  constructor(
    exchange: Exchange,
    account: CallAccount,
    { unpriced }: LimitFacts,
    cost: CallCost = ({ totalTokens }) => totalTokens,
  ) {
    this.#exchange = exchange;
    this.#account = account;
    this.#unpriced = unpriced;
    this.#cost = cost;
  }

  expect(call: LlmCall): MaybePromise<boolean> {
    // The expression may depend on values that are not known yet; nothing is charged in advance then.
    const amount = this.#amount(call) ?? 0;
    return thenMaybe(this.#account.reserve(amount), (isReserved) => {
      if (isReserved) this.#expected += amount;
      return isReserved;
    });
  }

  count(call: LlmCall): void {
    const amount = this.#amount(call);
    if (amount === undefined) this.#warn(call.requestModel ?? call.responseModel ?? "");
    this.#account.settle(this.#expected, amount ?? 0);
    this.#expected = 0;
  }

  release(): void {
    this.#account.settle(this.#expected, 0);
    this.#expected = 0;
  }

  /** Returns the cost; `undefined` if it failed or is not a non-negative number. */
  #amount(call: LlmCall): number | undefined {
    const amount = Number(numberOf(this.#cost(call)) ?? Number.NaN);
    return Number.isFinite(amount) && amount >= 0 ? amount : undefined;
  }

  /** Warns once per model. Clients choose the names, so their number is limited. */
  #warn(model: string): void {
    if (this.#unpriced.has(model) || this.#unpriced.size >= MAX_UNPRICED) return;
    this.#unpriced.add(model);
    const { gateway, record } = this.#exchange;
    const name = JSON.stringify(model.slice(0, MAX_NAME));
    gateway.warn(`did not count a call of ${name} on route ${record.route}: it has no cost`);
  }
}

/** Maximum number of models without a price that are logged. */
const MAX_UNPRICED = 100;
/** Maximum length of a logged name. */
const MAX_NAME = 64;

/** Returns the account of a bucket of this process. `refuse` answers a request that has to wait. */
export function bucketAccount(bucket: LimitBucket, refuse: (wait: number) => true): CallAccount {
  return {
    reserve: (amount) => {
      const wait = bucket.waitFor(amount);
      if (wait > 0) return !refuse(wait);
      bucket.charge(amount);
      return true;
    },
    settle: (reserved, used) => bucket.charge(used - reserved),
  };
}
