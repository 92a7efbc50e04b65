import type { Histogram, Sample } from "../../metrics/family.ts";
import type { Metrics } from "../../metrics/metrics.ts";
import { guardChecks, guardDuration } from "../../metrics/table/guards.ts";
import { SECOND } from "../../process/units.ts";
import type { Guard, GuardAction, GuardRun } from "./guard-run.ts";
import type { GuardStep } from "./prompt-guard.ts";

/** Counts the actions of guards. */
export class GuardMetrics {
  readonly #metrics: Metrics;
  /** Counts by steps: each list of steps guards either requests or responses. */
  readonly #steps = new WeakMap<readonly GuardStep[], readonly GuardCounts[]>();

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
  }

  /** Returns the counts of each guard of the steps, in their order. */
  of(steps: readonly GuardStep[], phase: GuardRun["phase"]): readonly GuardCounts[] {
    let counts = this.#steps.get(steps);
    if (counts === undefined) {
      counts = steps
        .flatMap(({ guards }) => guards)
        .map((guard, index) => new GuardCounts(this.#metrics, phase, guard, index));
      this.#steps.set(steps, counts);
    }
    return counts;
  }
}

/** Counts of one guard. */
class GuardCounts {
  readonly guard: Guard;
  /** Its number in the configuration and its kind: `2.webhook`. */
  readonly name: string;
  readonly #metrics: Metrics;
  readonly #phase: GuardRun["phase"];
  readonly #actions = new Map<GuardAction, Sample>();
  #duration: Histogram | undefined;

  constructor(metrics: Metrics, phase: GuardRun["phase"], guard: Guard, index: number) {
    this.guard = guard;
    this.name = `${index + 1}.${guard.kind}`;
    this.#metrics = metrics;
    this.#phase = phase;
  }

  did(action: GuardAction): void {
    let sample = this.#actions.get(action);
    if (sample === undefined) {
      sample = this.#metrics.counter(guardChecks, this.#phase, this.name, action);
      this.#actions.set(action, sample);
    }
    sample.value += 1;
  }

  /** Records a duration in milliseconds. */
  took(duration: number): void {
    this.#duration ??= this.#metrics.histogram(guardDuration, this.#phase, this.name);
    this.#duration.add(duration / SECOND);
  }
}
