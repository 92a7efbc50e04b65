import type { Code, Hole } from "./hole.ts";

/** A constant or function of the module of a route of connections, and the statement that uses it. */
export interface ConnectionPart {
  /** Undefined: there is nothing to declare. */
  readonly declaration: Code | undefined;
  readonly step: Hole;
}
