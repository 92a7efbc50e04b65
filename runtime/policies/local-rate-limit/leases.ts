import { storeFallbacks } from "../../metrics/table/store.ts";
import type { GatewayContext, PersistedState } from "../../process/gateway-context.ts";
import type { Buckets } from "../../store/buckets.ts";
import { Instances } from "../../store/instances.ts";
import { type LeaseContext, type LeasedLimit, LimitLease } from "./lease.ts";

/** Milliseconds between looks for leases that are not used. */
const SWEEP_INTERVAL = 500;

/** Accounts that are reported at the same time. */
const REPORT_BATCH = 256;

const instances = new Instances<Buckets, Leases>();

/** The leases of a process that have something to give back: it does so when they are idle, and when the process ends. */
export class Leases implements PersistedState {
  readonly #context: LeaseContext;
  readonly #used = new Set<LimitLease>();
  #timer: NodeJS.Timeout | undefined;

  private constructor(buckets: Buckets, { metrics }: GatewayContext) {
    this.#context = {
      buckets,
      onUse: (lease) => this.#watch(lease),
      onFallback: (decision) => {
        metrics.counter(storeFallbacks, decision).value += 1;
      },
    };
  }

  /** Returns the instance for the buckets of a gateway. */
  static of(buckets: Buckets, gateway: GatewayContext): Leases {
    return instances.of(buckets, () => {
      const made = new Leases(buckets, gateway);
      buckets.onLoss((bucket) => void made.#reportAgain(bucket));
      gateway.persistedStates.set("leases", made);
      return made;
    });
  }

  /** Opens a lease of a bucket. */
  open(bucket: string, limit: LeasedLimit): LimitLease {
    return new LimitLease(bucket, limit, this.#context);
  }

  /** Gives everything back when the process ends. */
  async flush(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    await Promise.all(Array.from(this.#used, (lease) => lease.close()));
    this.#used.clear();
  }

  #watch(lease: LimitLease): void {
    this.#used.add(lease);
    this.#timer ??= setInterval(() => this.#sweep(), SWEEP_INTERVAL).unref();
  }

  /** Reports the accounts of a bucket, or of all, in batches: the store is busy after a loss. */
  async #reportAgain(bucket: string | undefined): Promise<void> {
    const lost = Array.from(this.#used).filter(
      (lease) => bucket === undefined || lease.bucket === bucket,
    );
    for (let from = 0; from < lost.length; from += REPORT_BATCH)
      await Promise.all(lost.slice(from, from + REPORT_BATCH).map((each) => each.reportAgain()));
  }

  #sweep(): void {
    for (const lease of this.#used) if (!lease.sweep()) this.#used.delete(lease);
    if (this.#used.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
