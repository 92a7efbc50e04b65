import { channel } from "node:diagnostics_channel";
import type { Metrics } from "../metrics/metrics.ts";

/**
 * A value of the running gateway for modules that cannot know it, because they are loaded before it starts. Nothing is stored
 * here: each read asks the gateway through a channel.
 */
export class OfferedValue<Value> {
  readonly #reads;

  /** `name`: of the channel, unique in the process. */
  constructor(name: string) {
    this.#reads = channel(name);
  }

  /** The current value; `undefined` if no gateway offers one. */
  get current(): Value | undefined {
    const read: { value?: Value } = {};
    this.#reads.publish(read);
    return read.value;
  }

  /** Offers what `value` returns, until the returned function is called. */
  offer(value: () => Value | undefined): () => void {
    const respond = (read: unknown) => {
      const offered = value();
      if (offered !== undefined && typeof read === "object" && read !== null)
        Object.assign(read, { value: offered });
    };
    this.#reads.subscribe(respond);
    return () => {
      this.#reads.unsubscribe(respond);
    };
  }
}

const METRICS = new OfferedValue<Metrics>("gwc:metrics");

/** The counters of the process; `undefined` if no gateway runs yet. */
export function processMetrics(): Metrics | undefined {
  return METRICS.current;
}

/** Makes these the counters of the process, until the returned function is called. */
export function offerMetrics(metrics: Metrics): () => void {
  return METRICS.offer(() => metrics);
}
