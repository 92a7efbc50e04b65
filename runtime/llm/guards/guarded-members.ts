import type { JsonObject } from "../../cel/variables.ts";
import type { GuardRun } from "./guard-run.ts";
import type { GuardStep } from "./prompt-guard.ts";

/**
 * Guards the texts of some members, one step after the other; returns the object itself if nothing changes. If a guard
 * rejects it, the run has an error, and the object must not be forwarded.
 */
export async function guardedMembers(
  steps: readonly GuardStep[],
  object: JsonObject,
  keys: readonly string[],
  run: GuardRun,
): Promise<JsonObject> {
  let guarded = object;
  for (const step of steps) {
    const given = step.guardMembers(guarded, keys, run);
    // Steps that send no requests are not awaited.
    guarded = given instanceof Promise ? await given : given;
    if (run.error !== undefined) break;
  }
  return guarded;
}
