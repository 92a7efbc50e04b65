import type { JsonObject } from "../../cel/variables.ts";
import type { GuardRun } from "./guard-run.ts";
import type { GuardStep } from "./prompt-guard.ts";

/**
 * An object with the texts of some of its members guarded, one step after the other; the object itself when no text changes.
 * When a guard rejects it the run has an error, and nothing of the object may go on.
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
    // What asks nobody is not waited for.
    guarded = given instanceof Promise ? await given : given;
    if (run.error !== undefined) break;
  }
  return guarded;
}
