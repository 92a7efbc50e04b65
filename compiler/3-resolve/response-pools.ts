import { createHash } from "node:crypto";
import { sharesResponses, withResponsePool } from "../backends/index.ts";
import type { RouteNode } from "../ir/program.ts";

/**
 * Names the pool of shared responses of a route by its configuration and that of its listeners: gateways with other policies, guards
 * or callers never get its responses.
 */
export function withResponsePools(route: RouteNode, listeners: readonly unknown[]): RouteNode {
  if (!route.backends.some(sharesResponses)) return route;
  const text = JSON.stringify([route, listeners], withoutPlaces);
  const pool = createHash("sha256").update(text).digest("base64url").slice(0, POOL_LENGTH);
  return { ...route, backends: route.backends.map((each) => withResponsePool(each, pool)) };
}

/** Length of the name of a pool: 132 bits. */
const POOL_LENGTH = 22;

/** Leaves out places in files, which differ between replicas with the same configuration. */
function withoutPlaces(key: string, value: unknown): unknown {
  if (/(?:^o|O)rigin$|At$/.test(key)) return undefined;
  if (value instanceof Map || value instanceof Set) return [...value];
  return value;
}
