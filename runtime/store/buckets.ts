/**
 * Token buckets that replicas share: limits of requests, tokens and money. A replica takes amounts in advance and reports what it
 * took, as a sum for each window. A report that is lost or arrives twice therefore counts once, and a store that lost its last
 * writes (failover, `FLUSHALL`) learns them again from the replicas.
 */
export interface Buckets {
  /** Reports an account and takes an amount, in one step. Rejects with a StoreError if the store does not respond. */
  take(report: AccountReport): Promise<BucketState>;
  /**
   * Calls the listener with the name of a bucket whose sums the store lost, so that accounts report theirs, or with `undefined` if
   * that may have been missed.
   */
  onLoss(listener: (bucket: string | undefined) => void): void;
}

/** The size of a bucket, and when it is refilled. */
export interface BucketShape {
  /** Maximum and initial amount. */
  readonly capacity: number;
  /** Amount that each window adds. */
  readonly refill: number;
  /** Milliseconds from the first use on, or the calendar in UTC by the clock of the store. */
  readonly window: number | "day" | "month";
  /** Whether only whole amounts are taken. */
  readonly isWhole: boolean;
}

/** Amounts that a replica has taken from a bucket and asks for. */
export interface AccountReport {
  /** Name of the bucket, without "{" and "}". */
  readonly bucket: string;
  readonly shape: BucketShape;
  /** Name of the replica's account, which no other replica or bucket has. */
  readonly account: string;
  /** Start of the window that the account is about, as the store returned it; 0 if it is new. */
  readonly start: number;
  /** Amount that the replica took in that window and did not give back. */
  readonly taken: number;
  /** `taken` of the last response. More than that is counted even if the window has ended. */
  readonly acknowledged: number;
  /** Use of the bucket, and of its closed accounts, when the store last responded: it may lose that. */
  readonly used: number;
  readonly gone: number;
  /** Number of accounts when the store last responded. */
  readonly accounts: number;
  /** Amount to take; less is taken if less is left. */
  readonly amount: number;
  /** Part of the replica's share of what is left to take as well, from 0 to 1. */
  readonly share: number;
  /** Whether the account ends: its amount stays taken, and nothing is reported again. */
  readonly isClosing: boolean;
}

/** A bucket after a report. */
export interface BucketState {
  readonly granted: number;
  /** Amount that remains; negative if more than the capacity was used. */
  readonly left: number;
  /** Start of the window, in milliseconds by the clock of the store. */
  readonly start: number;
  /** Milliseconds until the next window. */
  readonly endsIn: number;
  /** Amount of the account in this window, with what was granted. */
  readonly taken: number;
  /** Amount of closed accounts. */
  readonly gone: number;
  /** Number of accounts that may report again. */
  readonly accounts: number;
  /** Whether nothing is granted until the accounts have reported what the store lost: for 0.25 to 2 seconds. */
  readonly isRecovering: boolean;
}

/** Divides what is left among replicas: all their shares together are at most an eighth of it. */
export const SHARE_DIVISOR = 8;
