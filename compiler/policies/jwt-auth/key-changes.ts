import { createHash } from "node:crypto";
import type { SettingsChange } from "../../model/access.ts";
import type { PublicJwk } from "./jwks.ts";

/** Names that are written out; the rest are counted. */
const MAX_NAMES = 4;

/**
 * What is different between two sets of an issuer's keys, in whatever order they are written. Who holds the private part
 * of a new key is known to nobody who reads the configuration: it may be anybody, so it opens.
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
  const gained = `${counted(added, "added")}; who can sign with ${it} is not known here`;
  const lost = counted(removed, "removed");
  const says = (direction: SettingsChange["direction"], text: string) => ({
    direction,
    text: `keys of ${issuer}: ${text}`,
  });
  // A set that is swapped is one change, which is what it lets in.
  const swapped = removed.length === 0 ? gained : `${gained}; ${lost}`;
  return [
    ...(added.length > 0 ? [says("opens", swapped)] : []),
    ...(added.length === 0 && removed.length > 0 ? [says("closes", lost)] : []),
    ...(changed.length > 0 ? [says("changes", counted(changed, "otherwise described"))] : []),
  ];
}

/** Keys by what verifies signatures: a key that is described otherwise is the same one. */
function byMaterial(keys: readonly PublicJwk[]): ReadonlyMap<string, PublicJwk> {
  return new Map(keys.map((key) => [material(key), key]));
}

/** The members of a thumbprint (RFC 7638 3.2, RFC 8037 2). */
function material({ crv, e, kty, n, x, y }: PublicJwk): string {
  return JSON.stringify({ crv, e, kty, n, x, y });
}

function sorted(key: PublicJwk): string {
  return JSON.stringify(Object.entries(key).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** `2 added ("a", "b")` */
function counted(keys: readonly PublicJwk[], what: string): string {
  const rest = keys.length - MAX_NAMES;
  const names = keys.slice(0, MAX_NAMES).map(nameOf);
  const more = rest > 0 ? [`${rest} more`] : [];
  return `${keys.length} ${what} (${[...names, ...more].join(", ")})`;
}

/** Its `kid`, else its thumbprint (RFC 7638). */
function nameOf(key: PublicJwk): string {
  if (typeof key.kid === "string") return JSON.stringify(key.kid);
  const print = createHash("sha256").update(material(key)).digest("base64url");
  return `thumbprint ${print}`;
}
