import type { BackendConfig } from "../backends/index.ts";
import { type Diagnostics, keyPlace, type Place } from "../diagnostics/diagnostic.ts";
import { trafficText } from "../model/traffic.ts";
import { type PolicyConfig, policyOf } from "../policies/index.ts";
import { acts, backendTraffic } from "./sections.ts";

/** A backend of a route, and where the route names it. */
export interface PlacedBackend {
  readonly config: BackendConfig;
  readonly at: Place;
}

/**
 * Reports the backends that get a share of a route's requests and have nothing that a policy of the route acts on: what the
 * policy decides would not hold for them.
 */
export function checkAllBackends(
  policies: readonly PolicyConfig[],
  backends: readonly PlacedBackend[],
  diagnostics: Diagnostics,
): void {
  const served = backends
    .filter(({ config }) => config.weight !== 0)
    .map(({ config, at }) => ({ at, carried: backendTraffic(config) }));
  for (const { kind, origin } of policies) {
    const { actsOn, identity } = policyOf(kind);
    // Who asks is found out before there is a backend.
    if (identity !== undefined || actsOn.includes("requests")) continue;
    const passedBy = served.filter(({ carried }) => !acts(actsOn, carried));
    if (passedBy.length === served.length) continue;
    for (const { at } of passedBy) {
      const params = { field: String(origin.path.at(-1)), actsOn: trafficText(actsOn) };
      const related = [{ at: keyPlace(origin), label: "the policy" }];
      diagnostics.report("not-for-all-backends", at, params, related);
    }
  }
}
