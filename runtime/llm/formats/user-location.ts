import type { JsonObject } from "../../cel/variables.ts";
import type { RequestObject } from "../chat/request-object.ts";

/** Reads the approximate place of a user, whose fields are the same in all formats. */
export function readLocation(place: RequestObject | undefined): JsonObject | undefined {
  if (place === undefined) return undefined;
  const fields = ["city", "region", "country", "timezone"].flatMap((name) => {
    const value = place.optionalText(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(fields);
}
