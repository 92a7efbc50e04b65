import type { PolicyUse } from "../../ir/policies.ts";
import type { RouteNode } from "../../ir/program.ts";
import { settingsKey } from "../../ir/settings-text.ts";
import type { ChangeDirection } from "../../model/access.ts";
import { type PolicyKind, policyOf } from "../../policies/index.ts";
import type { RequestEnd } from "../../policies/policy.ts";

/** Returns the responses that a policy sends itself; `undefined` if it never does. */
export function endsOf<Kind extends PolicyKind>({
  kind,
  settings,
}: PolicyUse<Kind>): readonly RequestEnd[] | undefined {
  return policyOf(kind).traits.ends?.(settings);
}

/** Whether every request is refused regardless of access rules. */
export function isRefusing({
  policies,
  refusal,
}: Pick<RouteNode, "policies" | "refusal">): boolean {
  return refusal !== undefined || policies.some((use) => reach(endsOf(use)) === "refused");
}

/**
 * Returns the effect on access of changed policies that respond themselves. A refusal is the most restrictive end, then a
 * response of the gateway, then the backend. Conditions are not solved: if the result depends on them, access opens.
 */
export function endDirection(
  before: readonly PolicyUse[],
  after: readonly PolicyUse[],
): ChangeDirection {
  const [old, now] = [before, after].map((policies) =>
    policies.flatMap((use) => endsOf(use) ?? []),
  );
  const [from, to] = [old ?? [], now ?? []];
  const [reached, reachedNow] = [reach(from), reach(to)];
  if (reached !== "some" && reachedNow !== "some") {
    const step = REACHED.indexOf(reachedNow) - REACHED.indexOf(reached);
    return step > 0 ? "opens" : step < 0 ? "closes" : "changes";
  }
  const [keys, keysNow] = [from.map(endKey), to.map(endKey)];
  if (keys.join() === keysNow.join()) return "changes";
  const added = to.filter((end) => !keys.includes(endKey(end)));
  // If requests reached the backend before, every added response restricts access to it.
  const isClosing = from.length === 0 || added.every(({ isRefusal }) => isRefusal);
  return isWithin(keys, keysNow) && isClosing ? "closes" : "opens";
}

/** Describes the ends of a policy: `refuses`. */
export function endsText(ends: readonly RequestEnd[] = []): string {
  return {
    refused: "refuses",
    response: "responds",
    some: "responds under conditions",
    backend: "",
  }[reach(ends)];
}

/** Ends of requests, the most restrictive first. */
const REACHED = ["refused", "response", "backend"];

/** Returns how far requests get; `some` if it depends on conditions. */
function reach(ends: readonly RequestEnd[] = []): "refused" | "response" | "backend" | "some" {
  if (ends.length === 0) return "backend";
  const refusals = ends.filter(({ isRefusal }) => isRefusal).length;
  if (ends.every(({ condition }) => condition !== undefined)) return "some";
  return refusals === 0 ? "response" : refusals === ends.length ? "refused" : "some";
}

function endKey({ condition, isRefusal }: RequestEnd): string {
  return settingsKey([condition ?? null, isRefusal]);
}

/** Whether strings are a subsequence of others. */
function isWithin(some: readonly string[], all: readonly string[]): boolean {
  let at = 0;
  for (const each of all) if (each === some[at]) at += 1;
  return at === some.length;
}
