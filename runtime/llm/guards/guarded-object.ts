import type { JsonObject } from "../../cel/variables.ts";
import { mapMembers } from "../chat/texts.ts";
import type { GuardRun } from "./guard-run.ts";
import type { GuardStep, TextMap } from "./prompt-guard.ts";

/**
 * Guards the texts of an object, one step after the other; returns the object itself if nothing changes. If a guard rejects
 * it, the run has an error, and the object must not be forwarded.
 */
export async function guardedObject(
  steps: readonly GuardStep[],
  object: JsonObject,
  map: TextMap,
  run: GuardRun,
): Promise<JsonObject> {
  let guarded = object;
  for (const step of steps) {
    const given = step.guardObject(guarded, map, run);
    // Steps that send no requests are not awaited.
    guarded = given instanceof Promise ? await given : given;
    if (run.error !== undefined) break;
  }
  return guarded;
}

/** Maps the texts of some members. */
export function membersMap(keys: readonly string[]): TextMap {
  return (object, texts) => mapMembers(object, keys, texts);
}
