import { backendTraffic, type IdleSection, reportIdle } from "../../../config/sections.ts";
import { childOf, keyPlace, type Origin } from "../../../diagnostics/diagnostic.ts";
import { guarded } from "../../../diagnostics/guarded.ts";
import type { Manifest, ManifestOf } from "../../../manifests/manifests.ts";
import { valueWithin } from "../../../model/json.ts";
import { trafficText } from "../../../model/traffic.ts";
import { resourceName } from "../inventory/inventory.ts";
import { actsThere, sectionOf } from "./applicable.ts";
import { allOfBackend } from "./effective.ts";
import { fieldName } from "./fields.ts";
import type { FieldValue, Level } from "./merge.ts";
import type { PolicyContext } from "./policy-context.ts";

/** Reports values that act on nothing, at their location, because they promise an effect that they do not have. */
export function reportWithoutEffect(context: PolicyContext): void {
  const { inventory, policyIndex, diagnostics } = context;
  const { values: ofBackends, impossible } = valuesOfBackends(context);
  const all = new Set([...[...policyIndex.values()].flat(), ...ofBackends]);
  const byPlace = Map.groupBy(all, ({ origin }) => origin);
  const uses = [...byPlace].map(([origin, same]) => useOf(origin, same, impossible, context));
  for (const policy of inventory.all("GatewayPolicy"))
    guarded(childOf(policy.origin, "spec"), diagnostics, () => reportEmpty(policy, context));
  for (const { misplaced } of uses) if (misplaced !== undefined) reportIdle(misplaced, diagnostics);
  for (const { section, user, at } of context.sections.passedOver()) {
    const related = [{ at, label: "called here" }];
    const params = { field: `"${section.name}"`, user };
    diagnostics.report("not-for-calls", keyPlace(section.origin), params, related);
  }
  const kinds = [
    "Gateway",
    "ListenerSet",
    "HTTPRoute",
    "GRPCRoute",
    "TLSRoute",
    "TCPRoute",
  ] as const;
  // Parts with mistakes could be what the values act on.
  if (kinds.some((kind) => inventory.all(kind).some(({ isPartial }) => isPartial))) return;
  const bySource = Map.groupBy(uses, ({ source }) => source);
  for (const policy of [...inventory.all("GatewayPolicy"), ...inventory.all("BackendTLSPolicy")]) {
    const own = bySource.get(policy) ?? [];
    // Missing targets have already been reported.
    const { spec, isPartial } = policy;
    if (spec === undefined || isPartial || (own.length === 0 && !isEmpty(spec))) continue;
    reportUnserved(policy, own, context);
  }
}

/** Sections that their schema allows to be empty. */
const MAY_BE_EMPTY = [
  ["frontend"],
  ["frontend", "accessLog"],
  ["frontend", "tracing", "resources"],
  ["traffic"],
] as const;

function reportEmpty(
  { spec = {}, origin, isPartial }: ManifestOf<"GatewayPolicy">,
  { diagnostics }: PolicyContext,
): void {
  // The section's content may be among the mistakes.
  if (isPartial) return;
  for (const path of MAY_BE_EMPTY) {
    const value = valueWithin(spec, path);
    if (typeof value !== "object" || value === null) continue;
    // A phase only determines when other fields act, and API servers add it as a default.
    if (Object.keys(value).some((name) => name !== "phase")) continue;
    const at = keyPlace(childOf(origin, "spec", ...path));
    diagnostics.report("section-says-nothing", at, { section: path.at(-1) ?? "" });
  }
}

/** Returns the values for GatewayBackends, and the locations of those that such a backend can never use. */
function valuesOfBackends(context: PolicyContext): {
  readonly values: readonly FieldValue[];
  readonly impossible: ReadonlySet<Origin>;
} {
  const found = [...context.backends.entries()].flatMap(([manifest, { config, parts }]) => {
    const read = () => {
      const carried = backendTraffic(config);
      const all = allOfBackend(manifest, parts, context.policyIndex);
      return all.map((value) => ({ value, carried }));
    };
    return guarded(childOf(manifest.origin, "spec"), context.diagnostics, read) ?? [];
  });
  const impossible = found.filter(({ value, carried }) => !actsThere(value, carried));
  for (const { value, carried } of impossible) context.sections.meet(sectionOf(value), carried);
  return {
    values: found.map(({ value }) => value),
    impossible: new Set(impossible.map(({ value }) => value.origin)),
  };
}

/** The use of the values at one location. */
interface ValueUse {
  readonly origin: Origin;
  readonly source: Manifest | undefined;
  readonly isActing: boolean;
  /** Set if it belongs to a single route or backend that has no traffic for it. */
  readonly misplaced: IdleSection | undefined;
  /** Traffic that it acts on, if the target has no such traffic. */
  readonly actsOn: string | undefined;
}

/** Returns the use of a location; `same` has the values of a policy there for each of its targets. */
function useOf(
  origin: Origin,
  same: readonly FieldValue[],
  impossible: ReadonlySet<Origin>,
  { sections }: PolicyContext,
): ValueUse {
  const use = sections.useOf(origin);
  const known = { origin, source: same[0]?.source, isActing: use === "acting" };
  if (use === undefined || use === "acting")
    return { ...known, misplaced: undefined, actsOn: undefined };
  const isOwn = same.every(({ level }) => OWN.includes(level)) || impossible.has(origin);
  const actsOn = trafficText(use.section.actsOn);
  return { ...known, misplaced: isOwn ? use : undefined, actsOn };
}

/** Levels of a single route or backend. Values at other levels may find something to act on later. */
const OWN: readonly Level[] = ["route", "rule", "inline", "backendOwn", "partOwn"];

/**
 * Reports a policy without effect, because its targets have no traffic for it or all of its values are overridden;
 * or single fields without effect.
 */
function reportUnserved(
  policy: Manifest,
  uses: readonly ValueUse[],
  { diagnostics }: PolicyContext,
): void {
  const title = resourceName(policy);
  const unserved = uses.filter(({ isActing, misplaced }) => !isActing && misplaced === undefined);
  if (unserved.length === uses.length) {
    const kinds = [...new Set(unserved.flatMap(({ actsOn }) => actsOn ?? []))];
    const about = kinds.length === 0 ? {} : { actsOn: kinds.join(" and ") };
    const at = keyPlace(childOf(policy.origin, "spec"));
    diagnostics.report("policy-without-effect", at, { policy: title, ...about });
    return;
  }
  for (const { origin, actsOn } of unserved) {
    const about = actsOn === undefined ? {} : { actsOn };
    const params = { policy: title, field: fieldName(origin), ...about };
    diagnostics.report("policy-without-effect", keyPlace(origin), params);
  }
}

/** Whether a policy has no sections. */
function isEmpty(spec: object): boolean {
  return !["frontend", "traffic", "backend", "validation"].some((name) =>
    Object.hasOwn(spec, name),
  );
}
