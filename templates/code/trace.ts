import type { Origin } from "../../compiler/diagnostics/diagnostic.ts";
import type { Comment } from "./hole.ts";

/** Names places of the configuration in generated code. */
export interface Trace {
  /** The comment above the code that comes from a place; none with `--trace none`. */
  (origin: Origin): readonly Comment[];
  /**
   * A place as logs and metrics of the gateway show it: `gateway.yaml routes[shop].policies.cors`, with its line if
   * `--trace line` is set.
   */
  readonly text: (origin: Origin) => string;
}
