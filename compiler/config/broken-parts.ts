import type { ConfigPath, Diagnostic, Origin } from "../diagnostics/diagnostic.ts";

/** Whether parts inside a place were removed or replaced because of mistakes, other than in the fields `besides`. */
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

/**
 * Whether a diagnostic follows from a mistake that was reported before: it is about a part that was removed or replaced, or
 * about a field that is missing next to one.
 */
export function isAboutBroken(
  { at, code }: Pick<Diagnostic, "at" | "code">,
  { origin, broken = [] }: { readonly origin?: Origin; readonly broken?: readonly ConfigPath[] },
): boolean {
  if (broken.length === 0 || at.file !== origin?.file || at.document !== origin.document)
    return false;
  let place: BrokenPlace | undefined = rootOf(broken);
  for (const step of at.path) {
    if (place === undefined || place.isBroken) break;
    place = place.inside.get(step);
  }
  const isIncomplete = place?.inside.values().some(({ isBroken }) => isBroken) === true;
  return place?.isBroken === true || (code === "missing-field" && isIncomplete);
}

/** A place that was removed or replaced, or that contains one. */
interface BrokenPlace {
  isBroken: boolean;
  readonly inside: Map<ConfigPath[number], BrokenPlace>;
}

/** Cached trees of broken places: a file may have as many mistakes as lines, and each of its parts is looked up. */
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
