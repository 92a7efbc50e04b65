import type { Origin } from "../../../diagnostics/diagnostic.ts";
import type { Manifest } from "../../../manifests/manifests.ts";
import { byAge } from "../inventory/inventory.ts";

/** Levels at which policies are attached, from the least to the most specific. */
export const LEVELS = [
  "gateway",
  "gatewayPort",
  "listenerSet",
  "listener",
  "route",
  "rule",
  /** Fields of the route's rule itself, such as filters and timeouts. */
  "inline",
  "backend",
  /** A port of a Service, or a target or provider of a GatewayBackend. */
  "backendPart",
  /** The GatewayBackend's own policies. */
  "backendOwn",
  /** A target's or provider's own policies. */
  "partOwn",
] as const;

/** A level of precedence. */
export type Level = (typeof LEVELS)[number];

/** Whether a level is that of a backend or part of one. */
export function isBackendLevel(level: Level): boolean {
  return LEVELS.indexOf(level) > LEVELS.indexOf("inline");
}

/** The value of one field in one resource. */
export interface FieldValue {
  /** Name of the field, such as `traffic.cors` or `backend.tcp.connectTimeout`; it is overridden as a whole. */
  readonly field: string;
  readonly value: unknown;
  readonly level: Level;
  /** For routes, the number of rules that delegate to the route; absent if none do. */
  readonly depth?: number;
  /** Set if values of more specific levels do not override or extend it. */
  readonly isFinal?: true;
  /** The resource with the value. */
  readonly source: Manifest;
  readonly origin: Origin;
  /** Locations of the value's parts, if they are in different places. */
  readonly partOrigins?: Readonly<Record<string, Origin>>;
}

/** The effective values of a field, and the overridden ones. */
export interface EffectiveField {
  readonly field: string;
  /** One value; for a joined field, one per resource, least specific first. */
  readonly values: readonly FieldValue[];
  /** Values of less specific levels, and those that a final value excludes. */
  readonly overridden: readonly FieldValue[];
  /** Overridden values of the same level, with the value that overrides each. */
  readonly conflicts: readonly { readonly lost: FieldValue; readonly won: FieldValue }[];
}

/**
 * Merges values: for each field the most specific value overrides all others as a whole, or all values are joined.
 * At the same level the older resource takes precedence, then the first by namespace and name.
 */
export function merge(
  values: readonly FieldValue[],
  isJoined: (field: string) => boolean,
): readonly EffectiveField[] {
  const byField = Map.groupBy(values, ({ field }) => field);
  return [...byField.keys()].toSorted().map((field) => {
    const sorted = (byField.get(field) ?? []).toSorted(byPrecedence);
    const last = lastEffective(sorted);
    const excluded = sorted.slice(last + 1);
    if (isJoined(field)) {
      const values = sorted.slice(0, last + 1);
      return { field, values, overridden: excluded, conflicts: [] };
    }
    const won = sorted[last];
    if (won === undefined) return { field, values: [], overridden: [], conflicts: [] };
    const rest = sorted.slice(0, last);
    return {
      field,
      values: [won],
      overridden: [...rest.filter((each) => !isBeside(each, won)).toReversed(), ...excluded],
      conflicts: rest.filter((each) => isBeside(each, won)).map((lost) => ({ lost, won })),
    };
  });
}

/** Returns the position of the most specific effective value: one that is final excludes those after it. */
function lastEffective(sorted: readonly FieldValue[]): number {
  const final = sorted.find(({ isFinal }) => isFinal === true);
  return final === undefined
    ? sorted.length - 1
    : sorted.findLastIndex((each) => isBeside(each, final));
}

/** Compares by precedence: least specific first; at the same level, the effective one last. */
function byPrecedence(a: FieldValue, b: FieldValue): number {
  const ofRoutes = routeStep(a) - routeStep(b);
  const byLevel = LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level);
  return ofRoutes || byLevel || byAge(b.source, a.source);
}

/** Returns the position relative to routes: before them, at a depth of delegation, or behind them. */
function routeStep({ level, depth = 0 }: FieldValue): number {
  const at = LEVELS.indexOf(level);
  if (at < LEVELS.indexOf("route")) return -1;
  return isBackendLevel(level) ? Number.MAX_SAFE_INTEGER : depth;
}

function isBeside(one: FieldValue, other: FieldValue): boolean {
  return one.level === other.level && (one.depth ?? 0) === (other.depth ?? 0);
}
