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

/** Reports what acts on nothing, each where it is written: a promise that nobody keeps. */
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
  // What has mistakes may be what they act on.
  if (kinds.some((kind) => inventory.all(kind).some(({ isPartial }) => isPartial))) return;
  const bySource = Map.groupBy(uses, ({ source }) => source);
  for (const policy of [...inventory.all("GatewayPolicy"), ...inventory.all("BackendTLSPolicy")]) {
    const own = bySource.get(policy) ?? [];
    // One whose targets could not be found has been reported.
    const { spec, isPartial } = policy;
    if (spec === undefined || isPartial || (own.length === 0 && !isEmpty(spec))) continue;
    reportUnserved(policy, own, context);
  }
}

/** Sections that may be empty as far as their schema says. */
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
  // What it said may be what had mistakes.
  if (isPartial) return;
  for (const path of MAY_BE_EMPTY) {
    const value = valueWithin(spec, path);
    if (typeof value !== "object" || value === null) continue;
    // A phase says when the other fields act; an API server writes it where there is none.
    if (Object.keys(value).some((name) => name !== "phase")) continue;
    const at = keyPlace(childOf(origin, "spec", ...path));
    diagnostics.report("section-says-nothing", at, { section: path.at(-1) ?? "" });
  }
}

/** What is said of GatewayBackends, and where the values stand that such a backend has no use for, whoever calls it. */
function valuesOfBackends(context: PolicyContext): {
  readonly values: readonly FieldValue[];
  readonly impossible: ReadonlySet<Origin>;
} {
  const found = [...context.backends].flatMap(([manifest, { config, parts }]) => {
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

/** What became of what is said in one place. */
interface ValueUse {
  readonly origin: Origin;
  readonly source: Manifest | undefined;
  readonly isActing: boolean;
  /** It stands on a route or backend, and what there is of it has nothing to act on. */
  readonly misplaced: IdleSection | undefined;
  /** What it acts on, where there is none of it. */
  readonly actsOn: string | undefined;
}

/** `same`: what a policy says in one place, for each of its targets. */
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

/** Levels that are about one route or backend. What holds for whatever comes may find something to act on later. */
const OWN: readonly Level[] = ["route", "rule", "inline", "backendOwn", "partOwn"];

/** A policy whose targets serve nothing that it acts on, or all of whose values others override; or single fields of it. */
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

/** Whether a policy says nothing. */
function isEmpty(spec: object): boolean {
  return !["frontend", "traffic", "backend", "validation"].some((name) =>
    Object.hasOwn(spec, name),
  );
}
