import { RetryBudget } from "../../policies/retry/retry-budget.ts";
import { sortedFor } from "./affinity.ts";
import type { AnyTarget, TargetChoice } from "./target.ts";
import type { TransformedRequest } from "./transform-fields.ts";

/** Chooses the only provider. */
export function oneTarget<Target extends AnyTarget>(target: Target): TargetChoice<Target> {
  const targets = [target];
  return () => targets;
}

/**
 * Chooses among groups of providers. Providers of a group share the requests by health, or by affinity among healthy ones; a later group is used if no earlier
 * one has a healthy provider. Each provider is tried at most once per request. `budget` bounds the retries.
 */
export function inGroups<Target extends AnyTarget>(
  groups: readonly (readonly Target[])[],
  budget: RetryBudget = new RetryBudget(),
): TargetChoice<Target> {
  return (_, request) => inTurn(groups, budget, request);
}

function* inTurn<Target extends AnyTarget>(
  groups: readonly (readonly Target[])[],
  budget: RetryBudget,
  request: TransformedRequest | undefined,
): Iterable<Target> {
  budget.count(performance.now());
  let isFirst = true;
  for (const target of byHealth(groups, request)) {
    if (!isFirst && !budget.take(performance.now())) return;
    isFirst = false;
    yield target;
  }
}

/** If all providers are ejected, they are tried anyway: without requests, the gateway would not notice a recovery. */
function* byHealth<Target extends AnyTarget>(
  groups: readonly (readonly Target[])[],
  request: TransformedRequest | undefined,
): Iterable<Target> {
  const now = performance.now();
  const isNoneHealthy = groups.every((group) => group.every((each) => isEjected(each, now)));
  for (const group of groups) {
    const rest = group.filter((each) => isNoneHealthy || !isEjected(each, now));
    const affinity = rest.length > 1 ? rest[0]?.affinity : undefined;
    if (affinity !== undefined && request !== undefined) {
      yield* sortedFor(rest, affinity(request));
      continue;
    }
    while (rest.length > 0) {
      const chosen = betterOfTwo(rest);
      rest.splice(rest.indexOf(chosen), 1);
      yield chosen;
    }
  }
}

/**
 * Returns the better of two random providers, which may be the same one. So even the worst gets some requests, and its
 * recovery is noticed. A new provider is assumed to be as fast as its group's mean, so that it is not flooded.
 */
function betterOfTwo<Target extends AnyTarget>(targets: readonly Target[]): Target {
  const one = drawn(targets);
  const other = drawn(targets);
  if (one === other) return one;
  const latency = meanLatency(targets);
  return rank(one, latency) >= rank(other, latency) ? one : other;
}

function drawn<Target extends AnyTarget>(targets: readonly Target[]): Target {
  const target = targets[Math.floor(Math.random() * targets.length)];
  if (target === undefined) throw new Error("no provider to choose from");
  return target;
}

function rank({ provider: { health } }: AnyTarget, groupLatency: number | undefined): number {
  return health?.rank(groupLatency) ?? 1;
}

function meanLatency(targets: readonly AnyTarget[]): number | undefined {
  let sum = 0;
  let count = 0;
  for (const { provider } of targets) {
    if (provider.health?.latency === undefined) continue;
    sum += provider.health.latency;
    count += 1;
  }
  return count === 0 ? undefined : sum / count;
}

function isEjected({ provider }: AnyTarget, now: number): boolean {
  return provider.health?.isEjected(now) ?? false;
}
