import { allPolicies } from "../../ir/access.ts";
import { servedTargets } from "../../ir/backend-text.ts";
import type { PolicyUse } from "../../ir/policies.ts";
import type { Program } from "../../ir/program.ts";
import { servedRoutes, servedTcpRoutes } from "../../ir/routes.ts";
import type { AccessOutcome } from "../access/access-text.ts";
import { type CellDecision, decide } from "./cell-decision.ts";
import type { ReviewedResource } from "./resources.ts";
import type { CallerClass } from "./subjects.ts";

/** Earlier decision about a cell that has another one now. */
export interface CellChange {
  /** `absent` if the route did not offer it. */
  readonly outcome: AccessOutcome | "absent";
  readonly reason: string;
}

/** A route of the base: the policies that decide about its requests, and its offers. */
export interface EarlierRoute {
  readonly policies: readonly PolicyUse[];
  readonly resources: readonly ReviewedResource[];
  readonly subjects: readonly CallerClass[];
  /** MCP servers. */
  readonly targets: ReadonlySet<string>;
}

/** Finds the earlier forms of the routes of a gateway by name; routes with one name by their order. */
export class EarlierRoutes {
  readonly #routes: ReadonlyMap<string, readonly EarlierRoute[]>;
  readonly #taken = new Map<string, number>();

  /** `read` returns the resources and the callers of a route. */
  constructor(
    program: Program,
    read: (
      served: ReturnType<typeof servedRoutes>[number],
    ) => Pick<EarlierRoute, "resources" | "subjects">,
  ) {
    const routes = servedRoutes(program).flatMap((served) => {
      const [listener] = served.listeners;
      if (listener === undefined) return [];
      const targets = new Set(served.route.backends.flatMap(servedTargets));
      const policies = allPolicies(listener, served.route);
      return [{ name: served.route.name, route: { policies, targets, ...read(served) } }];
    });
    const connections = servedTcpRoutes(program).map(({ route, listeners }) => {
      const policies = [...(listeners[0]?.admission ?? []), ...route.policies];
      const earlier: EarlierRoute = { policies, resources: [], subjects: [], targets: new Set() };
      return { name: connectionKey(route.name), route: earlier };
    });
    const byName = Map.groupBy([...routes, ...connections], ({ name }) => name);
    this.#routes = new Map([...byName].map(([name, all]) => [name, all.map(({ route }) => route)]));
  }

  /** Returns the earlier form of the next route with this name; `undefined` if it is new. */
  take(name: string): EarlierRoute | undefined {
    const index = this.#taken.get(name) ?? 0;
    this.#taken.set(name, index + 1);
    return this.#routes.get(name)?.[index];
  }
}

/** Returns the name under which routes of connections are found, which may have the names of other routes. */
export function connectionKey(name: string): string {
  return `connections ${name}`;
}

/** Returns the items that only rules of the earlier route name, and that its servers may still have. */
export function formerItems(
  { resources }: EarlierRoute,
  now: readonly ReviewedResource[],
): readonly ReviewedResource[] {
  const known = new Set(now.map(resourceKey));
  const targets = new Set(now.map(({ target }) => target));
  return resources.filter(
    (each) =>
      each.target !== undefined &&
      !each.isLocked &&
      targets.has(each.target) &&
      !known.has(resourceKey(each)),
  );
}

/** Returns the earlier decision about a cell; `undefined` if it is the same. */
export function cellChange(
  now: CellDecision,
  resource: ReviewedResource,
  subject: CallerClass,
  earlier: EarlierRoute | undefined,
  work: Parameters<typeof decide>[4],
): CellChange | undefined {
  if (earlier === undefined) return { outcome: "absent", reason: "the route is new" };
  const same = earlier.resources.find((each) => resourceKey(each) === resourceKey(resource));
  if (!wasOffered(resource, same, earlier)) return { outcome: "absent", reason: "it is new" };
  const { policies } = earlier;
  const anyOf = same?.anyOf ?? [];
  const alternatives = anyOf.length === 0 ? [policies] : anyOf.map((use) => [...policies, use]);
  const { outcome, reason, when } = decide(resource, subject, alternatives, now.origin, work);
  const isSame = outcome === now.outcome && (outcome !== "depends" || when === now.when);
  return isSame ? undefined : { outcome, reason };
}

/** Whether a route offered a resource: items of MCP servers exist whether rules name them or not, unless a lock lists all. */
function wasOffered(
  { kind, target, isLocked }: ReviewedResource,
  same: ReviewedResource | undefined,
  { targets, resources }: EarlierRoute,
): boolean {
  if (same !== undefined || kind === "connection") return true;
  if (target === undefined) return false;
  const hadLock = resources.some((each) => each.target === target && each.isLocked);
  return targets.has(target) && !(hadLock && isLocked);
}

function resourceKey({ kind, name, target }: ReviewedResource): string {
  return JSON.stringify([kind, name, target]);
}
