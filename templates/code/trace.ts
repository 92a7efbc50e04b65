import type { Origin } from "../../compiler/diagnostics/diagnostic.ts";
import type { Comment } from "./hole.ts";

/** Names places of the configuration in generated code. */
export interface Trace {
  /** Returns the comment above the code of a place; empty with `--trace none`. */
  (origin: Origin): readonly Comment[];
  /**
   * Returns a place as logs and metrics of the gateway show it: `gateway.yaml routes[shop].policies.cors`, with its
   * line if `--trace line` is set.
   */
  readonly text: (origin: Origin) => string;
}
