import type { LlmTarget, TargetChoice } from "./target.ts";

/** The only provider. */
export function oneTarget(target: LlmTarget): TargetChoice {
  const targets = [target];
  return () => targets;
}

/** Groups of providers: all of a group before the next one. */
export function inGroups(groups: readonly (readonly LlmTarget[])[]): TargetChoice {
  const targets = groups.flat();
  return () => targets;
}
