import { randomBytes } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type { MaybePromise } from "../../process/maybe-promise.ts";
import type { BucketShape, BucketState, Buckets } from "../../store/buckets.ts";
import { StoreError } from "../../store/store.ts";
import { AwayUse } from "./away-use.ts";
import type { Window } from "./windows.ts";

/** Treatment of requests while the store does not respond. */
export type StoreFailure = "local" | "closed" | "open";

/** Result of asking for an amount: 0 if it was taken, otherwise the milliseconds until it is available, or `away`. */
export type TakeResult = number | "away";

/** A limit that replicas share. */
export interface LeasedLimit {
  readonly shape: BucketShape;
  /** The windows of the shape while the store does not respond. */
  readonly window: Window;
  /** Whether the store is asked for each request; otherwise slices are taken in advance. */
  readonly isStrict: boolean;
  readonly onStoreFailure: StoreFailure;
}

/** The store and the process around a lease. */
export interface LeaseContext {
  readonly buckets: Buckets;
  /** Called whenever the lease has something that it may have to give back. */
  readonly onUse: (lease: LimitLease) => void;
  /** Called for each decision without the store. */
  readonly onFallback: (decision: StoreFailure) => void;
}

interface Waiting {
  readonly need: number;
  readonly resolve: (verdict: TakeResult) => void;
  readonly reject: (error: unknown) => void;
}

/** Part of a replica's share that its first slice has. It doubles as long as slices are used up quickly. */
const FIRST_SHARE = 1 / 16;
/** Milliseconds within which a used slice makes the next one larger; a slice that lasts four times as long makes it smaller. */
const QUICK = 1000;
/** Milliseconds for which requests are refused without asking again. */
const REFUSED_FOR = 100;
/** Milliseconds between questions while the store learns again what it lost. */
const RECOVERY_POLL = 50;
/** Milliseconds without use after which what is left of a slice is given back. */
const IDLE = 1000;
/** Milliseconds without use after which the account ends. Until then, a store that lost its last writes learns them again. */
const CLOSE_AFTER = 600_000;

/**
 * One replica's part of a bucket that replicas share. It takes slices in advance and serves requests from them. Requests that
 * wait at the same time share a question to the store, and there is one question at a time, so that its sums cannot cross.
 */
export class LimitLease {
  /** Name of the bucket. */
  readonly bucket: string;
  readonly #limit: LeasedLimit;
  readonly #context: LeaseContext;
  #account = newAccount();
  /** Start of the window by the clock of the store; 0 if unknown. */
  #start = 0;
  /** Amount taken in the window and not given back; what is not acknowledged is reported with the next question. */
  #taken = 0;
  #acknowledged = 0;
  /** Unused part of `#taken`. */
  #left = 0;
  /** When the window ends, by the monotonic clock: not later than by the clock of the store. */
  #ends = 0;
  /** Amount that the store had left, and the amount of closed accounts. */
  #remaining: number;
  #gone = 0;
  /** Number of accounts of the bucket. */
  #accounts = 0;
  #isRecovering = false;
  /** Whether the store has lost its sums since the last question. */
  #isLost = false;
  #share = FIRST_SHARE;
  /** A slice that is smaller than this is extended before it is used up. */
  #extendsAt = 0;
  #waiting: Waiting[] = [];
  #isAsking = false;
  #askedAt = Number.NEGATIVE_INFINITY;
  #refusedUntil = 0;
  #usedAt = Number.NEGATIVE_INFINITY;
  /** Whether a request used the slice since the last question, so that the next one is worth taking. */
  #isBusy = false;
  #isAway = false;
  #away: AwayUse | undefined;

  constructor(bucket: string, limit: LeasedLimit, context: LeaseContext) {
    this.bucket = bucket;
    this.#limit = limit;
    this.#context = context;
    this.#remaining = limit.shape.capacity;
  }

  /** Start of the present window, to give back what was taken in it. */
  get start(): number {
    return this.#start;
  }

  /** Takes an amount; 0 only asks whether anything is left. */
  take(need: number): MaybePromise<TakeResult> {
    const now = this.#use();
    if (this.#waiting.length === 0 && isEnough(this.#left, need)) {
      this.#left -= need;
      if (this.#left < this.#extendsAt && now >= this.#refusedUntil) this.#ask();
      this.#isBusy = true;
      return 0;
    }
    if (now < this.#refusedUntil) return this.#waitFor(need, now);
    this.#isBusy = true;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ need, resolve, reject });
      this.#ask();
    });
  }

  /** Takes an amount in any case. The excess over the slice is reported to the store and owed. */
  charge(amount: number): void {
    this.#use();
    if (this.#isAway && this.#limit.onStoreFailure !== "closed") {
      this.#away?.charge(amount);
      return;
    }
    const spent = Math.min(amount, this.#left);
    this.#left -= spent;
    this.#taken += amount - spent;
    this.#isBusy = true;
    if (amount > spent) this.#ask();
  }

  /** Gives back an amount that was taken in the window that began at `start`. */
  giveBack(amount: number, start: number): void {
    const now = this.#use();
    if (this.#away !== undefined) this.#away.charge(-amount);
    else if (start !== this.#start || now >= this.#ends) return;
    else if (this.#limit.isStrict) {
      this.#taken -= amount;
      this.#ask();
    } else this.#left += amount;
  }

  /** Takes an amount until it is settled. An amount above the capacity is owed. */
  async reserve(amount: number): Promise<TakeResult> {
    const need = Math.min(amount, this.#limit.shape.capacity);
    const verdict = await this.take(need);
    if (verdict === 0 && amount > need) this.charge(amount - need);
    return verdict;
  }

  /** Replaces a reservation, made in the window that began at `start`, by what was used. */
  settle(reserved: number, used: number, start: number): void {
    if (used > reserved) this.charge(used - reserved);
    else if (used < reserved) this.giveBack(reserved - used, start);
  }

  /**
   * Gives back what was not used for a while, or reports what could not be reported. Returns whether there is more to do later.
   */
  sweep(): boolean {
    const now = performance.now();
    if (this.#isAsking || now - this.#usedAt < IDLE) return true;
    this.#giveBackUnused(now);
    if (this.#isAway || this.#taken !== this.#acknowledged) {
      this.#isBusy = false;
      this.#ask();
    } else if (now - this.#usedAt >= CLOSE_AFTER) {
      void this.close();
      return false;
    }
    return true;
  }

  /** Reports the account again, because the store may have lost it. Resolves when the store has responded. */
  async reportAgain(): Promise<void> {
    if (this.#start === 0) return;
    this.#isLost = true;
    if (this.#isAsking) return;
    this.#isAsking = true;
    await this.#askAll();
  }

  /** Gives back what is left and ends the account; the lease can be used again. Never rejects because of the store. */
  async close(): Promise<void> {
    this.#giveBackUnused(performance.now());
    const report = this.#report();
    const isNew = this.#acknowledged === 0 && report.taken === 0;
    this.#account = newAccount();
    [this.#start, this.#taken, this.#acknowledged, this.#left, this.#ends] = [0, 0, 0, 0, 0];
    this.#away = undefined;
    if (isNew) return;
    const last = { ...report, amount: 0, share: 0, isClosing: true };
    // An amount that a store does not hear of because it is away remains taken.
    await this.#context.buckets.take(last).catch(ignoreStore);
  }

  #use(): number {
    const now = performance.now();
    if (now - this.#usedAt > IDLE / 2) this.#context.onUse(this);
    this.#usedAt = now;
    if (now >= this.#ends) this.#left = 0;
    return now;
  }

  #giveBackUnused(now: number): void {
    if (now < this.#ends) this.#taken -= this.#left;
    this.#left = 0;
  }

  #ask(): void {
    if (this.#isAsking) return;
    this.#isAsking = true;
    void this.#askAll();
  }

  /** Asks until nobody waits and everything is reported, or the store does not respond. */
  async #askAll(): Promise<void> {
    let report = this.#report();
    try {
      do {
        const waiting = this.#waiting.length;
        report = this.#report();
        this.#isBusy = false;
        this.#isLost = false;
        const sent = performance.now();
        const state = await this.#context.buckets.take(report);
        // A lease that was closed meanwhile gave back what is in this state.
        if (report.account !== this.#account) continue;
        this.#accept(state, report.taken, sent);
        this.#serve(waiting);
        if (this.#isRecovering && this.#waiting.length > 0) await setTimeout(RECOVERY_POLL);
      } while (this.#isLost || this.#waiting.length > 0 || this.#taken !== this.#acknowledged);
    } catch (error) {
      // The store may have heard that less is taken.
      if (report.account === this.#account)
        this.#acknowledged = Math.min(this.#acknowledged, report.taken);
      if (error instanceof StoreError) this.#decideAlone();
      else for (const { reject } of this.#waiting.splice(0)) reject(error);
    } finally {
      this.#isAsking = false;
    }
  }

  #report() {
    const needed = this.#waiting.reduce((sum, { need }) => sum + need, 0);
    const amount = Math.max(0, needed - this.#left);
    const share = this.#isBusy && !this.#limit.isStrict ? this.#share : 0;
    return {
      bucket: this.bucket,
      shape: this.#limit.shape,
      account: this.#account,
      start: this.#start,
      taken: this.#taken + (this.#away?.count ?? 0),
      acknowledged: this.#acknowledged,
      used: this.#limit.shape.capacity - this.#remaining,
      gone: this.#gone,
      accounts: this.#accounts,
      amount,
      share,
      isClosing: false,
    };
  }

  #accept(state: BucketState, sent: number, at: number): void {
    const { granted, left, start, endsIn, taken } = state;
    const meanwhile = this.#taken + (this.#away?.count ?? 0) - sent;
    if (start !== this.#start) this.#left = 0;
    this.#left += granted;
    this.#start = start;
    this.#taken = taken + meanwhile;
    this.#acknowledged = taken;
    this.#ends = at + endsIn;
    this.#remaining = left;
    this.#gone = state.gone;
    this.#accounts = state.accounts;
    this.#isRecovering = state.isRecovering;
    this.#isAway = false;
    this.#away = undefined;
    if (at - this.#askedAt < QUICK) this.#share = Math.min(1, 2 * this.#share);
    else if (at - this.#askedAt > 4 * QUICK) this.#share = Math.max(FIRST_SHARE, this.#share / 2);
    this.#askedAt = at;
    this.#extendsAt = granted / 4;
  }

  /** Serves those that waited when the store was asked, and others for whom enough is left. */
  #serve(waiting: number): void {
    const now = performance.now();
    const next = this.#waiting;
    this.#waiting = [];
    for (const [index, each] of next.entries()) {
      const isThere = each.need === 0 && this.#remaining > 0;
      if (isThere || isEnough(this.#left, each.need)) {
        this.#left -= each.need;
        each.resolve(0);
      } else if (index < waiting && !this.#isRecovering) {
        if (!this.#limit.isStrict && this.#remaining <= 0)
          this.#refusedUntil = Math.min(now + REFUSED_FOR, this.#ends);
        each.resolve(this.#waitFor(each.need, now));
      } else this.#waiting.push(each);
    }
  }

  /** Returns the milliseconds until an amount is available. */
  #waitFor(need: number, now: number): number {
    const { window, shape } = this.#limit;
    const left = this.#left + this.#remaining;
    const count = need === 0 ? Math.floor(-left / shape.refill) + 1 : (need - left) / shape.refill;
    const windows = Math.max(1, Math.ceil(count));
    const later = window.after(this.#start, windows) - window.after(this.#start, 1);
    return Math.max(1, this.#ends - now + later);
  }

  /** Decides for those that wait, because the store does not respond. */
  #decideAlone(): void {
    const { onStoreFailure } = this.#limit;
    this.#isAway = true;
    if (onStoreFailure === "local") this.#away ??= this.#knownUse();
    for (const { need, resolve } of this.#waiting.splice(0)) {
      this.#context.onFallback(onStoreFailure);
      if (onStoreFailure === "closed") resolve("away");
      else resolve(this.#away?.take(need) ?? 0);
    }
  }

  /** Continues from what the store had left, if its window has not ended. */
  #knownUse(): AwayUse {
    const { window, shape } = this.#limit;
    const isKnown = performance.now() < this.#ends;
    const since =
      typeof shape.window === "number" ? this.#ends - shape.window : window.begin(window.now());
    const use = {
      used: isKnown ? Math.max(0, shape.capacity - this.#remaining) : 0,
      since: isKnown ? since : undefined,
    };
    return new AwayUse({ capacity: shape.capacity, refill: shape.refill, window }, use);
  }
}

function isEnough(left: number, need: number): boolean {
  return need === 0 ? left > 0 : left >= need;
}

function newAccount(): string {
  return randomBytes(9).toString("base64url");
}

function ignoreStore(error: unknown): void {
  if (!(error instanceof StoreError)) throw error;
}
