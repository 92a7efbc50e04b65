import type { Hole } from "../code/code.ts";

/** The parts of a route's module that its backend adds. */
export interface BackendCode {
  /** Module constants. */
  readonly declarations: readonly Hole[];
  /** Statements before the policies. */
  readonly first: readonly Hole[];
  /** Statements after CORS and before everything else that a policy does. */
  readonly guard: readonly Hole[];
  /** The last statements of the route's function; none when a policy ends it. */
  readonly step: readonly Hole[];
  /** True when the step returns a promise. */
  readonly isAsync: boolean;
}
