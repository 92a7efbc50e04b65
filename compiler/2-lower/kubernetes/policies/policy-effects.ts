import { keyPlace } from "../../../diagnostics/diagnostic.ts";
import type { Manifest } from "../../../manifests/manifests.ts";
import { resourceName } from "../inventory/inventory.ts";
import type { EffectiveField } from "./merge.ts";
import type { PolicyContext } from "./policy-context.ts";

/** Records the resources with effective values, and reports values that a policy of the same level overrides. */
export function recordEffect(
  { values, conflicts }: EffectiveField,
  gateway: Manifest,
  context: PolicyContext,
): void {
  const { effective } = context;
  const note = (source: Manifest): void => {
    const known = effective.get(source);
    if (known === undefined) effective.set(source, new Set([gateway]));
    else known.add(gateway);
  };
  for (const { source } of values) note(source);
  for (const { lost, won } of conflicts) {
    const key = JSON.stringify([lost.origin, won.origin]);
    // The overridden value has been reported; do not also report it as having no effect.
    note(lost.source);
    if (context.reported.has(key)) continue;
    context.reported.add(key);
    const params = {
      field: lost.field.replace(/^[^.]*\./, ""),
      by: resourceName(won.source),
      target: LEVEL_WORDS[lost.level] ?? lost.level,
    };
    const related = [{ at: keyPlace(won.origin), label: "this one wins" }];
    context.diagnostics.report("policy-conflict", keyPlace(lost.origin), params, related);
  }
}

const LEVEL_WORDS: Readonly<Record<string, string>> = {
  gateway: "the Gateway",
  gatewayPort: "the port of the Gateway",
  listenerSet: "the ListenerSet",
  listener: "the listener",
  route: "the route",
  rule: "the rule",
  inline: "the rule",
  backend: "the backend",
  backendPart: "the part of the backend",
  backendOwn: "the backend",
  partOwn: "the part of the backend",
};
