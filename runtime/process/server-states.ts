/** Counters that know how servers do, for a page that people read. */
export interface ServerStates {
  servers(): readonly ServerState[];
}

/** Whether counters know that. */
export function hasServerStates(part: object): part is ServerStates {
  return "servers" in part;
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
