import type { Code, Hole } from "../code.ts";

/** The parts of a route's module that its backend adds. */
export interface BackendCode {
  /** Module constants. */
  readonly declarations: readonly Hole[];
  /** Statements before the policies. */
  readonly first: readonly Hole[];
  /** Statements after CORS and before everything else that a policy does. */
  readonly guard: readonly Hole[];
  /** The last statement of the route's function. */
  readonly step: Code;
  /** True when the step returns a promise. */
  readonly isAsync: boolean;
}
