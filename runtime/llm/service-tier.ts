import type { JsonObject } from "../cel/variables.ts";
import { receivedObjects } from "../http/body/received-objects.ts";
import { isJsonObject } from "../json/json-object.ts";

/** Returns the service tier that a response to a client names, whole or a stream; `undefined` if it names none. */
export function serviceTier(body: Uint8Array): string | undefined {
  const { whole, parts } = receivedObjects(body);
  return (whole === undefined ? parts : [whole]).map(tierOf).findLast((tier) => tier !== undefined);
}

/** Reads the tier of a message: its own, that of its usage, or that of the message which it contains. */
function tierOf({ service_tier: tier, usage, response, message }: JsonObject): string | undefined {
  if (typeof tier === "string") return tier;
  const inside = [usage, response, message].filter(isJsonObject);
  return inside.map(tierOf).find((each) => each !== undefined);
}
