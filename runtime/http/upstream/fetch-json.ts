import type { JsonObject } from "../../cel/variables.ts";
import type { FetchLimits } from "./fetch-request.ts";
import { fetchResponse } from "./fetch-response.ts";
import type { Upstream } from "./upstream.ts";

const limits: FetchLimits = { maxBytes: 512 * 1024, deadline: 5_000, expectedStatus: 200 };

/**
 * Fetches a JSON object that the configuration names by URL (a key set, a server's metadata): within 5 seconds, at most
 * 512 KiB. `server` is the URL's server when it is reached in a way of its own. Throws when it does not get one.
 */
export async function fetchJson(url: string, server?: Upstream): Promise<JsonObject> {
  const headers = ["accept", "application/json"];
  const { body } = await fetchResponse({ method: "GET", url, headers, server }, limits);
  const value: unknown = JSON.parse(body.toString("utf8"));
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Error("not a JSON object");
  }
  // An object that is no array has string keys: JsonObject says no more.
  return value as JsonObject;
}
