import type { BackendConfig } from "../backends/index.ts";
import { type Diagnostics, keyPlace, type Place } from "../diagnostics/diagnostic.ts";
import { trafficText } from "../model/traffic.ts";
import { type PolicyConfig, policyOf } from "../policies/index.ts";
import { acts, backendTraffic } from "./sections.ts";

/** A backend of a route, and the place where the route refers to it. */
export interface PlacedBackend {
  readonly config: BackendConfig;
  readonly at: Place;
}

/**
 * Reports backends that share the requests of a route although one of its policies does not apply to them: clients
 * could bypass the policy by repeating a request.
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
    const { traits, access } = policyOf(kind);
    const { actsOn } = traits;
    // Callers are authenticated before a backend is chosen.
    if (access?.identity !== undefined || actsOn.includes("requests")) continue;
    const passedBy = served.filter(({ carried }) => !acts(actsOn, carried));
    if (passedBy.length === served.length) continue;
    for (const { at } of passedBy) {
      const params = { field: String(origin.path.at(-1)), actsOn: trafficText(actsOn) };
      const related = [{ at: keyPlace(origin), label: "the policy" }];
      diagnostics.report("not-for-all-backends", at, params, related);
    }
  }
}
