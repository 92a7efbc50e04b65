import { type Diagnostics, keyPlace } from "../diagnostics/diagnostic.ts";
import { suggest } from "../diagnostics/suggestion.ts";
import {
  policies as all,
  type PolicyConfig,
  type PolicyKind,
  policyConfig,
  policyOf,
} from "../policies/index.ts";
import type { OrderPlace } from "../policies/policy.ts";

/** Policies of another level that requests pass: of the listener for a route, of its routes for a listener. */
interface OtherLevel {
  readonly kinds: readonly PolicyKind[];
  readonly name: "listener" | "route";
}

/** A part of a policy that runs where the configuration puts it. */
interface MovedPart<Kind extends PolicyKind = PolicyKind> {
  readonly policy: PolicyConfig<Kind>;
  readonly place: OrderPlace;
}

/**
 * Returns policies in request order. Parts that the configuration puts before or after another policy become entries of
 * their own; those for which that is impossible are reported and left out.
 */
export function inRequestOrder(
  policies: readonly PolicyConfig[],
  other: OtherLevel,
  diagnostics: Diagnostics,
): readonly PolicyConfig[] {
  const split = policies.map(partsOf);
  const moved: readonly MovedPart[] = split.flatMap((each) => each.moved);
  const fixed: readonly PolicyConfig[] = split.flatMap((each) => each.fixed);
  if (moved.length === 0) return fixed;
  const kinds = fixed.map(({ kind }) => kind);
  const placed = moved.flatMap(({ policy, place }) => {
    const kind = placeKind(place, diagnostics);
    if (kind === undefined || !isPossible(kind, place, kinds, other, diagnostics)) return [];
    return [{ policy, at: slotOf(kind, place.side, kinds) }];
  });
  // Slot `index` is before the policy of this index; the parts of a slot keep their order.
  return [...fixed, undefined].flatMap((policy, index) => [
    ...placed.flatMap((each) => (each.at === index ? [each.policy] : [])),
    ...(policy === undefined ? [] : [policy]),
  ]);
}

function partsOf<Kind extends PolicyKind>({
  kind,
  config,
  origin,
}: PolicyConfig<Kind>): {
  readonly fixed: readonly PolicyConfig<Kind>[];
  readonly moved: readonly MovedPart<Kind>[];
} {
  const parts = policyOf(kind).lowering.partsOf?.(config) ?? [{ config, place: undefined }];
  const fixed: PolicyConfig<Kind>[] = [];
  const moved: MovedPart<Kind>[] = [];
  for (const { config: own, place } of parts) {
    const policy = policyConfig(kind, own, origin);
    if (place === undefined) fixed.push(policy);
    else moved.push({ policy, place });
  }
  return { fixed, moved };
}

/** Returns the policy that a place names; `undefined` if there is none, or if it is no step (reported). */
function placeKind(place: OrderPlace, diagnostics: Diagnostics): PolicyKind | undefined {
  const names = new Map(
    all.flatMap(({ kind, kubernetes, traits }) => {
      const isStep = traits.actsOnCall !== true && traits.isOfBackend !== true;
      if (!isStep || policyOf(kind).lowering.partsOf !== undefined) return [];
      const { field, part } = kubernetes ?? {};
      const own = field?.replace(/^(?:traffic|filter)\./, "");
      const inManifests = own === undefined ? [] : [part === undefined ? own : `${own}.${part}`];
      const words = place.isOfManifest ? inManifests : [kind];
      return words.map((word) => [word, kind] as const);
    }),
  );
  const found = names.get(place.name);
  if (found === undefined) {
    const known = [...names.keys()];
    diagnostics.report("unknown-place", place.origin, {
      ...{ name: place.name, side: place.side, known: known.join(", ") },
      suggestion: suggest(place.name, known),
    });
  }
  return found;
}

/** Whether the order of a place can be kept; reports places that cannot, and those without effect. */
function isPossible(
  kind: PolicyKind,
  { name, side, origin }: OrderPlace,
  kinds: readonly PolicyKind[],
  other: OtherLevel,
  diagnostics: Diagnostics,
): boolean {
  if (kinds.includes(kind)) return true;
  const isElsewhere = other.kinds.includes(kind);
  const isInTurn = side === (other.name === "listener" ? "after" : "before");
  if (isElsewhere && !isInTurn) {
    diagnostics.report("impossible-place", origin, { name, side, level: other.name });
    return false;
  }
  if (!isElsewhere) diagnostics.report("place-without-policy", keyPlace(origin), { name, side });
  return true;
}

/** Returns the index before which a part runs. A policy that is absent counts where it would be. */
function slotOf(kind: PolicyKind, side: OrderPlace["side"], kinds: readonly PolicyKind[]): number {
  const rank = RANKS.get(kind) ?? 0;
  const index = kinds.findIndex((each) => {
    const own = RANKS.get(each) ?? 0;
    return side === "before" ? own >= rank : own > rank;
  });
  return index === -1 ? kinds.length : index;
}

const RANKS: ReadonlyMap<PolicyKind, number> = new Map(all.map(({ kind }, index) => [kind, index]));
