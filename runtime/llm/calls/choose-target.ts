import { RetryBudget } from "../../policies/retry/retry-budget.ts";
import type { AnyTarget, TargetChoice } from "./target.ts";

/** The only provider. */
export function oneTarget<Target extends AnyTarget>(target: Target): TargetChoice<Target> {
  const targets = [target];
  return () => targets;
}

/**
 * Groups of providers: those of a group share the requests by how they do, and a later group is asked when none of the
 * earlier ones is healthy. Every provider is asked once at most for a request.
 */
export function inGroups<Target extends AnyTarget>(
  groups: readonly (readonly Target[])[],
): TargetChoice<Target> {
  const budget = new RetryBudget();
  return () => inTurn(groups, budget);
}

function* inTurn<Target extends AnyTarget>(
  groups: readonly (readonly Target[])[],
  budget: RetryBudget,
): Iterable<Target> {
  budget.count(performance.now());
  let isFirst = true;
  for (const target of byHealth(groups)) {
    if (!isFirst && !budget.take(performance.now())) return;
    isFirst = false;
    yield target;
  }
}

/** When all are ejected, somebody is asked nevertheless: a gateway that asks nobody learns nothing. */
function* byHealth<Target extends AnyTarget>(
  groups: readonly (readonly Target[])[],
): Iterable<Target> {
  const now = performance.now();
  const isNoneHealthy = groups.every((group) => group.every((each) => isEjected(each, now)));
  for (const group of groups) {
    const rest = group.filter((each) => isNoneHealthy || !isEjected(each, now));
    while (rest.length > 0) {
      const chosen = betterOfTwo(rest);
      rest.splice(rest.indexOf(chosen), 1);
      yield chosen;
    }
  }
}

/**
 * The better of two that are drawn, which may be the same one: the worst gets some requests too, so that it is seen
 * when it does better. A new one is taken to be as fast as the others of its group: it is not flooded.
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
  if (target === undefined) throw new Error("a choice of nothing");
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
