import { createHash } from "node:crypto";
import type { SettingsChange } from "../../model/access.ts";
import type { PublicJwk } from "./jwks.ts";

/** Maximum number of keys that are named; the rest are counted. */
const MAX_NAMES = 4;

/**
 * Compares two key sets of an issuer, in any order. The configuration does not show who holds the private part of
 * a new key, so a new key opens access.
 */
export function keySetChanges(
  issuer: string,
  before: readonly PublicJwk[],
  after: readonly PublicJwk[],
): readonly SettingsChange[] {
  const [old, now] = [byMaterial(before), byMaterial(after)];
  const added = [...now].flatMap(([material, key]) => (old.has(material) ? [] : [key]));
  const removed = [...old].flatMap(([material, key]) => (now.has(material) ? [] : [key]));
  const changed = [...now].flatMap(([material, key]) => {
    const known = old.get(material);
    return known === undefined || sorted(known) === sorted(key) ? [] : [key];
  });
  const it = added.length === 1 ? "it" : "them";
  const gained = `${counted(added, "added")}; the configuration does not show who can sign with ${it}`;
  const lost = counted(removed, "removed");
  const change = (direction: SettingsChange["direction"], text: string) => ({
    direction,
    text: `keys of ${issuer}: ${text}`,
  });
  // Swapping keys is reported once, as the access that the new keys open.
  const swapped = removed.length === 0 ? gained : `${gained}; ${lost}`;
  return [
    ...(added.length > 0 ? [change("opens", swapped)] : []),
    ...(added.length === 0 && removed.length > 0 ? [change("closes", lost)] : []),
    ...(changed.length > 0 ? [change("changes", counted(changed, "with other metadata"))] : []),
  ];
}

/** Indexes keys by the part that verifies signatures, so that a key with other metadata counts as the same key. */
function byMaterial(keys: readonly PublicJwk[]): ReadonlyMap<string, PublicJwk> {
  return new Map(keys.map((key) => [material(key), key]));
}

/** Returns the members that make up a key's thumbprint (RFC 7638 3.2, RFC 8037 2). */
function material({ crv, e, kty, n, x, y }: PublicJwk): string {
  return JSON.stringify({ crv, e, kty, n, x, y });
}

function sorted(key: PublicJwk): string {
  return JSON.stringify(Object.entries(key).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Describes keys as in `2 added ("a", "b")`. */
function counted(keys: readonly PublicJwk[], what: string): string {
  const rest = keys.length - MAX_NAMES;
  const names = keys.slice(0, MAX_NAMES).map(nameOf);
  const more = rest > 0 ? [`${rest} more`] : [];
  return `${keys.length} ${what} (${[...names, ...more].join(", ")})`;
}

/** Returns the key's `kid`, or else its thumbprint (RFC 7638). */
function nameOf(key: PublicJwk): string {
  if (typeof key.kid === "string") return JSON.stringify(key.kid);
  const print = createHash("sha256").update(material(key)).digest("base64url");
  return `thumbprint ${print}`;
}
