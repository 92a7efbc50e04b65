import type { Code, Hole } from "./hole.ts";

/** A constant or function for a route of connections, and the statement that uses it. */
export interface ConnectionPart {
  /** The declaration; `undefined` if none is needed. */
  readonly declaration: Code | undefined;
  readonly step: Hole;
  /** Whether the statement waits. */
  readonly isAsync?: boolean;
}
