import type { Origin } from "../../../diagnostics/diagnostic.ts";
import type { Manifest } from "../../../manifests/manifests.ts";
import { byAge } from "../inventory/inventory.ts";

/** Where a policy stands, from the least specific to the most specific. */
export const LEVELS = [
  "gateway",
  "listenerSet",
  "listener",
  "route",
  "rule",
  /** What the route's rule says itself: a filter, a timeout. */
  "inline",
  "backend",
  /** A port of a Service, a target or provider of a GatewayBackend. */
  "backendPart",
  /** The GatewayBackend's own policies. */
  "backendOwn",
  /** A target's or provider's own policies. */
  "partOwn",
] as const;

/** A level of precedence. */
export type Level = (typeof LEVELS)[number];

/** Whether it is about a backend, whatever leads there. */
export function isBackendLevel(level: Level): boolean {
  return LEVELS.indexOf(level) > LEVELS.indexOf("inline");
}

/** What one resource says about one field at one level. */
export interface FieldValue {
  /** `traffic.cors`, `backend.tcp.connectTimeout`: a field that is replaced as a whole. */
  readonly field: string;
  readonly value: unknown;
  readonly level: Level;
  /** Of a route: how many rules of others hand requests on to it; absent: none. */
  readonly depth?: number;
  /** The resource that says it. */
  readonly source: Manifest;
  readonly origin: Origin;
  /** Where its parts stand, when they stand apart. */
  readonly partOrigins?: Readonly<Record<string, Origin>>;
}

/** What holds for a field: the values that count, and those that don't. */
export interface EffectiveField {
  readonly field: string;
  /** One value; of a joined field one for each resource, the least specific first. */
  readonly values: readonly FieldValue[];
  /** Values of less specific levels. */
  readonly overridden: readonly FieldValue[];
  /** Values of the same level that lost, each to the value that won. */
  readonly conflicts: readonly { readonly lost: FieldValue; readonly won: FieldValue }[];
}

/**
 * The one merge: for each field the most specific value wins whole, or all values are joined. At one level the older
 * resource wins, then the one whose namespace and name come first.
 */
export function merge(
  values: readonly FieldValue[],
  isJoined: (field: string) => boolean,
): readonly EffectiveField[] {
  const byField = Map.groupBy(values, ({ field }) => field);
  return [...byField.keys()].toSorted().map((field) => {
    const sorted = (byField.get(field) ?? []).toSorted(byPrecedence);
    if (isJoined(field)) return { field, values: sorted, overridden: [], conflicts: [] };
    const won = sorted.at(-1);
    if (won === undefined) return { field, values: [], overridden: [], conflicts: [] };
    const rest = sorted.slice(0, -1);
    return {
      field,
      values: [won],
      overridden: rest.filter((each) => !isBeside(each, won)).toReversed(),
      conflicts: rest.filter((each) => isBeside(each, won)).map((lost) => ({ lost, won })),
    };
  });
}

/** The least specific first; of one level the one that wins last. */
function byPrecedence(a: FieldValue, b: FieldValue): number {
  const ofRoutes = routeStep(a) - routeStep(b);
  const byLevel = LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level);
  return ofRoutes || byLevel || byAge(b.source, a.source);
}

/** Before routes, on one of them as far as it is from the listener, or behind them. */
function routeStep({ level, depth = 0 }: FieldValue): number {
  const at = LEVELS.indexOf(level);
  if (at < LEVELS.indexOf("route")) return -1;
  return isBackendLevel(level) ? Number.MAX_SAFE_INTEGER : depth;
}

function isBeside(one: FieldValue, other: FieldValue): boolean {
  return one.level === other.level && (one.depth ?? 0) === (other.depth ?? 0);
}
