import type { JsonObject } from "../cel/variables.ts";
import { receivedObjects } from "../http/body/received-objects.ts";
import { isJsonObject } from "../json/json-object.ts";

/** A tool call in the log: its arguments, and its result or error as the client received it. */
export interface CapturedCall {
  readonly arguments?: JsonObject | undefined;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** Reads a tool call from the bodies of its request and response; `undefined` bodies were not captured. */
export function capturedCall(
  request: Uint8Array | undefined,
  response: Uint8Array | undefined,
): CapturedCall | undefined {
  const call = request && receivedObjects(request).whole;
  if (call?.method !== "tools/call") return undefined;
  const { whole, parts } = response ? receivedObjects(response) : { whole: undefined, parts: [] };
  const sent = [whole ?? [], parts].flat().findLast(({ id }) => id === call.id);
  return {
    arguments: own(call.params, "arguments"),
    result: sent?.result,
    error: sent?.error,
  };
}

function own(value: unknown, member: string): JsonObject | undefined {
  if (!isJsonObject(value)) return undefined;
  const found = Object.hasOwn(value, member) ? value[member] : undefined;
  return isJsonObject(found) ? found : undefined;
}
