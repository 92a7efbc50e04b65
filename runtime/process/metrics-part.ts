/** Counters of what not every gateway has. */
export interface MetricsPart {
  /** In the Prometheus text format. */
  exposition(): string;
}
