/** Counters that know the state of servers, for pages that people read. */
export interface ServerStates {
  servers(): readonly ServerState[];
}

/** Whether counters know the state of servers. */
export function hasServerStates(part: object): part is ServerStates {
  return "servers" in part;
}

/** State of one server of a route. */
export interface ServerState {
  readonly route: string;
  /** Name in the configuration. */
  readonly server: string;
  /** Whether the server gets requests. */
  readonly isGood: boolean;
  /** Short description. */
  readonly text: string;
}
