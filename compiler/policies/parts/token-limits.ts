import type { Origin } from "../../diagnostics/diagnostic.ts";
import type { ResolveContext } from "../policy.ts";

/**
 * Whether a limit of LLM tokens, the field `name` at `origin`, has any tokens to count on this route. A policy
 * that several routes share may limit tokens for those with LLM backends; it is reported at the end if none has
 * them.
 */
export function countsTokens(
  name: string,
  origin: Origin,
  { sections, route: { spendsTokens } }: ResolveContext,
): boolean {
  const carried = spendsTokens === false ? [] : (["countedCalls"] as const);
  return sections.meet({ name, actsOn: ["countedCalls"], origin }, carried);
}
