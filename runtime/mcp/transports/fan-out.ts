import type { Message } from "../protocol/message.ts";
import type { Outcome } from "../protocol/target-failure.ts";
import type { Call, CallSink } from "./target.ts";

/** Starts one of the calls of a fan-out. */
export type FanOutCall = (sink: CallSink) => Call;

/** Options of a fan-out. */
export interface FanOutOptions {
  /** Milliseconds; a target that has not responded by then has failed. */
  readonly deadline: number;
  /** Receives the messages that the target at this index sends before its response. */
  readonly onMessage: (at: number, message: Message) => boolean;
  /** Called once, with one outcome per call, in the same order. */
  readonly onDone: (outcomes: readonly Outcome[]) => void;
}

/** Makes several calls at once and waits for all of them, until the deadline. */
export function fanOut(calls: readonly FanOutCall[], options: FanOutOptions): Call {
  const running = new FanOut(options, calls.length);
  running.start(calls);
  return running;
}

/**
 * Makes one call and waits for its outcome until the deadline (milliseconds). Messages before the response are dropped
 * unless `onMessage` takes them.
 */
export function outcomeOf(
  call: FanOutCall,
  deadline: number,
  onMessage: (message: Message) => void = () => {},
): Promise<Outcome> {
  return new Promise((resolve) => {
    fanOut([call], {
      deadline,
      onMessage: (_at, message) => {
        onMessage(message);
        return true;
      },
      onDone: ([outcome = lost]) => resolve(outcome),
    });
  });
}

const lost: Outcome = { kind: "failure", failure: { kind: "protocol", detail: "no outcome" } };

class FanOut implements Call {
  readonly #options: FanOutOptions;
  readonly #outcomes: (Outcome | undefined)[];
  readonly #timer: NodeJS.Timeout;
  #calls: Call[] = [];
  #missing: number;

  constructor(options: FanOutOptions, count: number) {
    this.#options = options;
    this.#outcomes = new Array(count).fill(undefined);
    this.#missing = count;
    this.#timer = setTimeout(() => this.#expire(), options.deadline);
  }

  start(calls: readonly FanOutCall[]): void {
    this.#calls = calls.map((call, at) =>
      call({
        onMessage: (message) => this.#options.onMessage(at, message),
        onResponse: (response) => this.#put(at, { kind: "response", response }),
        onFailure: (failure) => this.#put(at, { kind: "failure", failure }),
      }),
    );
    if (this.#missing === 0) this.#finish();
  }

  cancel(): void {
    clearTimeout(this.#timer);
    for (const call of this.#calls) call.cancel();
  }

  resume(): void {
    for (const call of this.#calls) call.resume();
  }

  #put(at: number, outcome: Outcome): void {
    if (this.#outcomes[at] !== undefined) return;
    this.#outcomes[at] = outcome;
    this.#missing--;
    // `start` checks for itself while it is still making calls.
    if (this.#missing === 0 && this.#calls.length > 0) this.#finish();
  }

  #expire(): void {
    this.cancel();
    for (const at of this.#outcomes.keys()) {
      this.#outcomes[at] ??= {
        kind: "failure",
        failure: { kind: "timeout", detail: "no response before the deadline" },
      };
    }
    this.#missing = 0;
    this.#finish();
  }

  #finish(): void {
    clearTimeout(this.#timer);
    this.#options.onDone(this.#outcomes.filter((outcome) => outcome !== undefined));
  }
}
