import type { Metrics } from "../metrics/metrics.ts";
import type { PreparedChange } from "./prepared-change.ts";

/** Something that a gateway obtains while it runs, such as its certificate in a mesh. */
export interface Enrollable<Open extends Enrolled> {
  /** Identifies the settings: equal for those that are opened in the same way. */
  readonly key: string;
  /** Creates the enrollment of a running gateway, at first in nothing. */
  enrollment(log: EnrollmentLog, metrics: Metrics): Enrollment<Open>;
  /** Starts to obtain it; `metrics` report its validity. Throws StartupError if that can never succeed. */
  open(log: EnrollmentLog, metrics: Metrics): Open;
}

/** Log for operators. Never pass a token or a key. */
export interface EnrollmentLog {
  readonly info: (message: string) => void;
  readonly warn: (message: string) => void;
}

/** A thing that a gateway has obtained, or waits for. */
export interface Enrolled {
  readonly key: string;
  /** Whether it was ever available: before that, requests should not be sent here. */
  readonly isReady: boolean;
  close(): void;
}

/** The things that a running gateway obtains, across reloads. */
export class Enrollment<Open extends Enrolled> {
  readonly #log: EnrollmentLog;
  readonly #metrics: Metrics;
  readonly #withdraw: () => void;
  readonly #changed: () => void;
  #open: Open | undefined;

  /** `offer` makes available what its argument returns. `changed` is called after a reload. */
  constructor(
    log: EnrollmentLog,
    metrics: Metrics,
    offer: (open: () => Open | undefined) => () => void,
    changed: () => void = () => {},
  ) {
    this.#log = log;
    this.#metrics = metrics;
    this.#changed = changed;
    this.#withdraw = offer(() => this.#open);
  }

  /** Whether the gateway can take requests: it needs nothing, or it was available once. */
  get isReady(): boolean {
    return this.#open?.isReady !== false;
  }

  /** Opens these settings; they take effect on commit. Throws StartupError and changes nothing if they cannot be opened. */
  prepare(settings: Enrollable<Open> | undefined): PreparedChange {
    const before = this.#open;
    const next = settings?.key === before?.key ? before : settings?.open(this.#log, this.#metrics);
    return {
      commit: () => {
        this.#open = next;
        if (next === before) return;
        before?.close();
        this.#changed();
      },
      abort: () => {
        if (next !== before) next?.close();
      },
    };
  }

  close(): void {
    this.#withdraw();
    this.#open?.close();
  }
}
