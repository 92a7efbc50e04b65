import { type Origin, placeKey } from "../../diagnostics/diagnostic.ts";
import { accessOf, policiesBefore, policiesMet } from "../../ir/access.ts";
import type { Program } from "../../ir/program.ts";
import { servedRoutes } from "../../ir/routes.ts";

/** A part of a configuration that tests may cover. */
export interface CoveredPart {
  readonly kind: "route" | "policy" | "rule";
  /** Display name: `route tools`, `cors of route tools`, or a rule's source. */
  readonly name: string;
  readonly origin: Origin;
}

/** Lists the distinct parts of programs, in the order of the configuration. */
export function coverableParts(programs: readonly Program[]): readonly CoveredPart[] {
  const all = programs.flatMap(servedRoutes).flatMap(({ route, listeners }) => {
    const listed = listeners.flatMap((listener) =>
      policiesBefore(listener).map((use) => ({ use, of: `listener ${listener.name}` })),
    );
    const own = policiesMet(undefined, route).map((use) => ({ use, of: `route ${route.name}` }));
    return [
      { kind: "route", name: `route ${route.name}`, origin: route.origin } as const,
      ...[...listed, ...own].flatMap(({ use, of }): readonly CoveredPart[] => [
        { kind: "policy", name: `${use.kind} of ${of}`, origin: use.origin },
        ...accessOf(use)
          .flatMap((check) => (check.kind === "rules" ? check.rules : []))
          .map(({ action, text, origin }) => ({
            kind: "rule" as const,
            name: action === "allow" ? text : `${action}: ${text}`,
            origin,
          })),
      ]),
    ];
  });
  return [...new Map(all.map((part) => [partKey(part), part])).values()];
}

/** Returns a unique string for a part. */
export function partKey({ kind, origin }: Pick<CoveredPart, "kind" | "origin">): string {
  return `${kind} ${placeKey(origin)}`;
}
