import { channel } from "node:diagnostics_channel";
import type { Metrics } from "../telemetry/metrics/metrics.ts";

/** The way from parts that know no gateway (they are made while its modules load) to the counters of whichever runs. */
const questions = channel("gwc:metrics");

/** The counters of the process; undefined: no gateway runs yet. */
export function processMetrics(): Metrics | undefined {
  const question: { metrics?: Metrics } = {};
  questions.publish(question);
  return question.metrics;
}

/** Gives these to whoever asks, until the function that is returned is called. */
export function offerMetrics(metrics: Metrics): () => void {
  const offer = (question: unknown) => {
    if (typeof question === "object" && question !== null) Object.assign(question, { metrics });
  };
  questions.subscribe(offer);
  return () => {
    questions.unsubscribe(offer);
  };
}
