import { type Exchange, logFields } from "../../http/exchange.ts";
import { retryAfter } from "../../http/headers/retry-after.ts";
import { ReceivedResponse } from "../../http/received-response.ts";
import type { RepeatSettings } from "../../http/upstream/repeating-upstream.ts";
import { SECOND } from "../../process/units.ts";
import type { RetryTest } from "../retry.ts";
import { RetryBudget } from "./retry-budget.ts";

/** Settings for retrying buffered calls, with the retry budget of all calls of a route. */
export interface Tries extends RepeatSettings {
  readonly budget: RetryBudget;
}

/** Creates the budget of a route. */
export function openTries(settings: RepeatSettings): Tries {
  return { ...settings, budget: new RetryBudget() };
}

/** The result of a failed try. */
export interface FailedTry {
  /** `undefined` if there was no response. `headers`: a flat list. */
  readonly head: { readonly status: number; readonly headers: readonly string[] } | undefined;
  /** Whether another try may succeed, whatever the configuration says. */
  readonly mayTryNext: boolean;
}

/** Returns the tries of one call. `isWanted`: further responses that are retried. */
export function triedCall(tries: Tries, isWanted?: RetryTest): TriedCall {
  return new TriedCall(tries, isWanted);
}

export type { TriedCall };

/** The tries of one call. */
class TriedCall {
  readonly tries: Tries;
  readonly isWanted: RetryTest | undefined;
  #count = 0;

  constructor(tries: Tries, isWanted: RetryTest | undefined) {
    this.tries = tries;
    this.isWanted = isWanted;
  }

  /** Whether the call should be retried after a failure. */
  isWorthwhile({ head, mayTryNext }: FailedTry): boolean {
    if (mayTryNext) return true;
    if (head === undefined) return false;
    if (this.tries.codes.has(head.status)) return true;
    return this.isWanted?.(new ReceivedResponse(head.status, head.headers)) === true;
  }

  /**
   * Waits until the next try. Returns false if none is left, or not before `deadline` (milliseconds of the monotonic
   * clock). `isSame`: the same server is tried again, so its Retry-After applies.
   */
  async next(
    exchange: Exchange,
    { head }: FailedTry,
    isSame: boolean,
    deadline: number,
  ): Promise<boolean> {
    const { attempts, backoff, budget } = this.tries;
    const asked = (isSame && retryAfter(head?.headers ?? [])) || 0;
    const wait = Math.max(backoff, asked);
    const now = performance.now();
    if (this.#count >= attempts || asked > MAX_WAIT || now + wait >= deadline) return false;
    if (!budget.take(now)) return false;
    this.#count += 1;
    logFields(exchange.record).set("retry.attempt", String(this.#count));
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    return !exchange.isOver;
  }
}

/** Maximum Retry-After in milliseconds that is waited for; with longer ones, the client gets the response. */
const MAX_WAIT = 10 * SECOND;
