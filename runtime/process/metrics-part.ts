/** Counters of what not every gateway has. */
export interface MetricsPart {
  /** In the Prometheus text format. */
  exposition(): string;
  /** How servers do, for a page that people read; absent: it knows nothing of that. */
  servers?(): readonly ServerState[];
}

/** How one server of a route does. */
export interface ServerState {
  readonly route: string;
  /** What the configuration calls it. */
  readonly server: string;
  /** It is asked. */
  readonly isGood: boolean;
  /** A few words. */
  readonly text: string;
}
