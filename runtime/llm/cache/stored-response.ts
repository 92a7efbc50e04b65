import { isJsonObject } from "../../json/json-object.ts";
import type { ResponseFacts } from "../chat/formats.ts";
import { tokenCount, type Usage } from "../chat/usage.ts";
import { cachedHead } from "./cached-head.ts";
import { headedBytes, readHeadedBytes } from "./headed-bytes.ts";
import { type CachedResponse, savedCost } from "./response-cache.ts";

/** Returns the form of a response in a store: its head, then the body. */
export function encodeResponse(response: CachedResponse): Buffer {
  const { head, isStream, facts, system, cost, body } = response;
  const { list: headers } = head.fields;
  return headedBytes({ headers, isStream, facts, system, cost: cost?.amount }, body);
}

/** Reads a response from a store; `undefined` if it is damaged. `storedAt`: by the monotonic clock. */
export function decodeResponse(bytes: Buffer, storedAt: number): CachedResponse | undefined {
  const read = readHeadedBytes(bytes);
  if (!isJsonObject(read?.head)) return undefined;
  const { headers, isStream, facts, system, cost } = read.head;
  if (!Array.isArray(headers) || !headers.every((each) => typeof each === "string"))
    return undefined;
  const head = cachedHead(headers);
  if (head === undefined || typeof isStream !== "boolean" || typeof system !== "string") {
    return undefined;
  }
  const spent = tokenCount(cost);
  return {
    ...{ head, isStream, system, storedAt },
    body: read.body,
    facts: readFacts(facts),
    cost: spent === undefined ? undefined : savedCost(spent),
  };
}

function readFacts(value: unknown): ResponseFacts {
  if (!isJsonObject(value)) return {};
  const { id, model, finish, usage } = value;
  const read = readUsage(usage);
  return {
    ...(typeof id === "string" && { id }),
    ...(typeof model === "string" && { model }),
    ...(typeof finish === "string" && { finish }),
    ...(read && { usage: read }),
  };
}

function readUsage(value: unknown): Usage | undefined {
  if (!isJsonObject(value)) return undefined;
  const [input, output] = [tokenCount(value.input), tokenCount(value.output)];
  if (input === undefined || output === undefined) return undefined;
  const cacheRead = tokenCount(value.cacheRead) ?? 0;
  const cacheWrite = tokenCount(value.cacheWrite) ?? 0;
  return { input, output, cacheRead, cacheWrite, reasoning: tokenCount(value.reasoning) };
}
