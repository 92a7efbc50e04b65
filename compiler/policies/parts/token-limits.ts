import type { Origin } from "../../diagnostics/diagnostic.ts";
import type { ResolveContext } from "../policy.ts";

/**
 * Whether a limit of the tokens of models, which stands at `origin` as `name`, has any to count on this route. A policy of
 * several routes may have it for those that use models; where none does it is a mistake, which is told in the end.
 */
export function countsTokens(
  name: string,
  origin: Origin,
  { sections, route: { spendsTokens } }: ResolveContext,
): boolean {
  const carried = spendsTokens === false ? [] : (["countedCalls"] as const);
  return sections.meet({ name, actsOn: ["countedCalls"], origin }, carried);
}
