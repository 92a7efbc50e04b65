import { type Exchange, logFields } from "../../http/exchange.ts";
import { retryAfter } from "../../http/headers/retry-after.ts";
import { ReceivedResponse } from "../../http/received-response.ts";
import type { RepeatSettings } from "../../http/upstream/repeating-upstream.ts";
import { SECOND } from "../../process/units.ts";
import type { RetryTest } from "../retry.ts";
import { RetryBudget } from "./retry-budget.ts";

/** When and how often a call is tried again that is held whole, and what all calls of a route may be tried again together. */
export interface Tries extends RepeatSettings {
  readonly budget: RetryBudget;
}

/** Opens the budget of a route. */
export function openTries(settings: RepeatSettings): Tries {
  return { ...settings, budget: new RetryBudget() };
}

/** What a try came to. */
export interface FailedTry {
  /** Undefined: there was no response. `headers`: a flat list. */
  readonly head: { readonly status: number; readonly headers: readonly string[] } | undefined;
  /** Another try may do better, whatever the configuration says. */
  readonly mayTryNext: boolean;
}

/** The tries of one call. `isWanted`: which responses are tried again besides. */
export function triedCall(tries: Tries, isWanted?: RetryTest): TriedCall {
  return new TriedCall(tries, isWanted);
}

export type { TriedCall };

/** How often a call was tried. */
class TriedCall {
  readonly tries: Tries;
  readonly isWanted: RetryTest | undefined;
  #count = 0;

  constructor(tries: Tries, isWanted: RetryTest | undefined) {
    this.tries = tries;
    this.isWanted = isWanted;
  }

  /** Whether the call is worth another try for what came of the last one. */
  isWorthwhile({ head, mayTryNext }: FailedTry): boolean {
    if (mayTryNext) return true;
    if (head === undefined) return false;
    if (this.tries.codes.has(head.status)) return true;
    return this.isWanted?.(new ReceivedResponse(head.status, head.headers)) === true;
  }

  /**
   * Resolves when it is time for the next try. False: there is none left, or not before `deadline` (milliseconds of the
   * monotonic clock). `isSame`: the same server is asked again, and may have said when.
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

/** Milliseconds that a server may ask for: who is sent away for longer is told so. */
const MAX_WAIT = 10 * SECOND;
