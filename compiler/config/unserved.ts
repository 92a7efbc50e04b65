import type { BackendConfig } from "../backends/index.ts";
import { placeKey } from "../diagnostics/diagnostic.ts";
import type { Resource } from "./resources.ts";

/** Returns the declared backends that no route uses. */
export function unservedBackends(
  declared: Iterable<BackendConfig>,
  resources: readonly Resource[],
): readonly BackendConfig[] {
  const routed = resources.flatMap((each) => (each.kind === "gateway" ? [] : each.backends));
  const used = new Set(routed.map(({ origin }) => placeKey(origin)));
  return [...declared].filter(({ origin }) => !used.has(placeKey(origin)));
}
