import { MINUTE, SECOND } from "../process/units.ts";
import type { Validity, WorkloadCertificate, WorkloadContext } from "../tls/workload-tls.ts";
import type { MeshLog } from "./mesh-membership.ts";

/** An issued certificate. */
export interface IssuedCertificate extends Validity {
  readonly context: WorkloadContext;
}

/** First and longest pause after a failed attempt; milliseconds. */
const FIRST_PAUSE = 250;
const MAX_PAUSE = 30 * SECOND;
/** Longest wait of one timer. Longer waits check the clock in between. */
const MAX_WAIT = 60 * MINUTE;

/** A certificate that is renewed about halfway through its lifetime. The previous one stays in use as long as it is valid. */
export class RenewedCertificate implements WorkloadCertificate {
  readonly #issue: () => Promise<IssuedCertificate>;
  readonly #log: MeshLog;
  #issued: IssuedCertificate | undefined;
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  /** Last logged failure. */
  #logged = "";
  #isClosed = false;

  /** `issue` resolves with a new certificate, or rejects with an Error that says why it failed. */
  constructor(issue: () => Promise<IssuedCertificate>, log: MeshLog) {
    this.#issue = issue;
    this.#log = log;
    void this.#renew();
  }

  get context(): WorkloadContext {
    if (this.#issued === undefined) throw new Error("there is no certificate of the mesh yet");
    if (this.#issued.expiry <= Date.now())
      throw new Error("the certificate of the mesh has expired");
    return this.#issued.context;
  }

  get isReady(): boolean {
    return this.#issued !== undefined;
  }

  get validity(): Validity | undefined {
    return this.#issued;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  async #renew(): Promise<void> {
    try {
      const issued = await this.#issue();
      if (this.#isClosed) return;
      this.#issued = issued;
      this.#failures = 0;
      this.#logged = "";
      this.#log.info(
        `certificate of the mesh is valid until ${new Date(issued.expiry).toISOString()}`,
      );
      // Pods that started together must not renew together.
      this.#renewAt(Date.now() + (issued.expiry - Date.now()) * (0.4 + Math.random() / 5));
    } catch (error) {
      if (this.#isClosed) return;
      this.#warnOf(error instanceof Error ? error.message : String(error));
      const longest = Math.min(MAX_PAUSE, FIRST_PAUSE * 2 ** this.#failures);
      this.#failures += 1;
      this.#renewAt(Date.now() + longest * (0.5 + Math.random() / 2));
    }
  }

  /** `time`: milliseconds since the epoch. */
  #renewAt(time: number): void {
    const wait = Math.min(MAX_WAIT, time - Date.now());
    this.#timer = setTimeout(() => {
      if (Date.now() < time) this.#renewAt(time);
      else void this.#renew();
    }, wait);
    this.#timer.unref();
  }

  #warnOf(problem: string): void {
    if (problem === this.#logged) return;
    this.#logged = problem;
    const kept =
      this.#issued === undefined ? "" : "; the previous one stays in use until it expires";
    this.#log.warn(`no certificate of the mesh: ${problem}; retrying${kept}`);
  }
}
