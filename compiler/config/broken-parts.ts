import type { ConfigPath, Origin } from "../diagnostics/diagnostic.ts";

/** Whether parts with mistakes were left out of what stands at a place, of other fields than `besides`. */
export function isPartial(
  { path }: Origin,
  { broken }: { readonly broken: readonly ConfigPath[] },
  besides: ConfigPath = [],
): boolean {
  let place: BrokenPlace | undefined = rootOf(broken);
  for (const step of path) place = place?.inside.get(step);
  if (place === undefined) return false;
  return place.isBroken || place.inside.keys().some((field) => !besides.includes(field));
}

/** A place where something was left out: itself, or what stands inside. */
interface BrokenPlace {
  isBroken: boolean;
  readonly inside: Map<ConfigPath[number], BrokenPlace>;
}

/** A file may have as many mistakes as lines, and is asked about each of its parts. */
const roots = new WeakMap<readonly ConfigPath[], BrokenPlace>();

function rootOf(broken: readonly ConfigPath[]): BrokenPlace {
  const known = roots.get(broken);
  if (known !== undefined) return known;
  const root: BrokenPlace = { isBroken: false, inside: new Map() };
  for (const path of broken) {
    let place = root;
    for (const step of path) {
      const next = place.inside.get(step) ?? { isBroken: false, inside: new Map() };
      place.inside.set(step, next);
      place = next;
    }
    place.isBroken = true;
  }
  roots.set(broken, root);
  return root;
}
