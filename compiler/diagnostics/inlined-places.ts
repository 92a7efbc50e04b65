import { type Diagnostic, type Origin, placeKey } from "./diagnostic.ts";

/** Places of expressions that called custom functions, which were replaced with their bodies. */
export interface InlinedPlaces {
  readonly keys: ReadonlySet<string>;
  readonly definitions: Origin;
}

/** Points at whole expressions where offsets are those of bodies of functions, and at the definitions. */
export function withoutInlinedOffsets(
  found: readonly Diagnostic[],
  inlined: InlinedPlaces | undefined,
): readonly Diagnostic[] {
  if (inlined === undefined || inlined.keys.size === 0) return found;
  return found.map((each) => {
    const { within, ...at } = each.at;
    if (within === undefined || each.code === "bad-function-call") return each;
    if (!inlined.keys.has(placeKey(each.at))) return each;
    const definitions = { at: inlined.definitions, label: "its functions are defined here" };
    return { ...each, at, related: [...(each.related ?? []), definitions] };
  });
}
