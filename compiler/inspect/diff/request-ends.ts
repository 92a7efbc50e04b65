import type { PolicyUse } from "../../ir/policies.ts";
import type { RouteNode } from "../../ir/program.ts";
import { settingsKey } from "../../ir/settings-text.ts";
import type { ChangeDirection } from "../../model/access.ts";
import { type PolicyKind, policyOf } from "../../policies/index.ts";
import type { RequestEnd } from "../../policies/policy.ts";

/** The responses that a policy gives by itself; undefined: it gives none. */
export function endsOf<Kind extends PolicyKind>({
  kind,
  settings,
}: PolicyUse<Kind>): readonly RequestEnd[] | undefined {
  return policyOf(kind).ends?.(settings);
}

/** Whether every request is refused behind all policies that decide who may. */
export function isRefusing({
  policies,
  refusal,
}: Pick<RouteNode, "policies" | "refusal">): boolean {
  return refusal !== undefined || policies.some((use) => reach(endsOf(use)) === "refused");
}

/**
 * What it does to access that policies which respond by themselves are others: whoever is refused gets nothing, whoever
 * gets a response of the gateway does not get to the backend. What conditions say is not solved: where it matters which
 * of them holds, it opens.
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
  // In front of the backend every further response keeps requests from it.
  const isClosing = from.length === 0 || added.every(({ isRefusal }) => isRefusal);
  return isWithin(keys, keysNow) && isClosing ? "closes" : "opens";
}

/** What the ends of a policy do, for people: `refuses`. */
export function endsText(ends: readonly RequestEnd[] = []): string {
  return {
    refused: "refuses",
    response: "responds",
    some: "responds under conditions",
    backend: "",
  }[reach(ends)];
}

/** How far every request gets, the nearest end first. */
const REACHED = ["refused", "response", "backend"];

/** How far requests get; `some`: it depends on conditions. */
function reach(ends: readonly RequestEnd[] = []): "refused" | "response" | "backend" | "some" {
  if (ends.length === 0) return "backend";
  const refusals = ends.filter(({ isRefusal }) => isRefusal).length;
  if (ends.every(({ condition }) => condition !== undefined)) return "some";
  return refusals === 0 ? "response" : refusals === ends.length ? "refused" : "some";
}

function endKey({ condition, isRefusal }: RequestEnd): string {
  return settingsKey([condition ?? null, isRefusal]);
}

/** Whether texts are among others, in their order. */
function isWithin(some: readonly string[], all: readonly string[]): boolean {
  let at = 0;
  for (const each of all) if (each === some[at]) at += 1;
  return at === some.length;
}
