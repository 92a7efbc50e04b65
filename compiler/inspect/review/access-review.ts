import { type Origin, placeKey } from "../../diagnostics/diagnostic.ts";
import { allPolicies } from "../../ir/access.ts";
import { servedTargets } from "../../ir/backend-text.ts";
import type { PolicyUse } from "../../ir/policies.ts";
import type { ListenerNode, Program, RouteNode } from "../../ir/program.ts";
import { type ServedTcpRoute, servedRoutes, servedTcpRoutes } from "../../ir/routes.ts";
import { type AccessChain, chainOf } from "../diff/chain.ts";
import { type Work, workOfCommand } from "../effect/work/work.ts";
import { type CellDecision, decide } from "./cell-decision.ts";
import {
  type CellChange,
  cellChange,
  connectionKey,
  type EarlierRoute,
  EarlierRoutes,
  formerItems,
} from "./earlier-access.ts";
import { type ReviewedResource, resourcesOf } from "./resources.ts";
import { type CallerClass, type CallerClasses, subjectsOf } from "./subjects.ts";

/** Effective access: a matrix for each route. */
export interface AccessReview {
  readonly routes: readonly ReviewedRoute[];
  /** Distinct decisions, which cells refer to by index. */
  readonly decisions: readonly CellDecision[];
}

/** The matrix of a route: classes of callers by tools, paths or models. */
export interface ReviewedRoute {
  readonly gateway: string;
  readonly name: string;
  readonly listeners: readonly string[];
  readonly origin: Origin;
  readonly subjects: readonly CallerClass[];
  readonly rows: readonly ReviewedRow[];
  /** Rules whose callers were not found, or only partly. */
  readonly undecided: readonly string[];
}

/** A resource, and the decision for each class of callers. */
export interface ReviewedRow {
  readonly resource: ReviewedResource;
  /** Indexes of decisions, in the order of the subjects. */
  readonly cells: readonly number[];
  /** Earlier decisions of the cells that have another one now; `undefined` without a base. */
  readonly changes: readonly (CellChange | undefined)[] | undefined;
}

/** A gateway, and its earlier form if there is a base. */
export interface ReviewedGateway {
  readonly program: Program;
  readonly before: Program | undefined;
}

/** Decides for each route which classes of callers may use which of its resources, and what is new about that. */
export function reviewAccess(gateways: readonly ReviewedGateway[]): AccessReview {
  const work = workOfCommand();
  const decisions = new Map<string, { readonly index: number; readonly decision: CellDecision }>();
  const indexOf = (decision: CellDecision): number => {
    const { origin, example, ...rest } = decision;
    const key = JSON.stringify([placeKey(origin), rest, example.map(({ isAllowed }) => isAllowed)]);
    const known = decisions.get(key);
    if (known !== undefined) return known.index;
    decisions.set(key, { index: decisions.size, decision });
    return decisions.size - 1;
  };
  const routes = gateways.flatMap(({ program, before }) => {
    const earlier =
      before &&
      new EarlierRoutes(before, ({ route, listeners: [listener] }) =>
        listener === undefined ? NOTHING : resourcesAndCallers(route, listener, work),
      );
    const context = { gateway: program.name, earlier, indexOf, work };
    return [
      ...servedRoutes(program).flatMap(({ route, listeners }) => {
        const [listener] = listeners;
        if (listener === undefined) return [];
        const names = listeners.map(({ name }) => name);
        return reviewedRoute(route, listener, names, context);
      }),
      ...servedTcpRoutes(program).map((served) => reviewedConnections(served, context)),
    ];
  });
  return { routes, decisions: [...decisions.values()].map(({ decision }) => decision) };
}

const NOTHING = { resources: [], subjects: [] };

/** Inputs that the matrices of a gateway share. */
interface ReviewContext {
  readonly gateway: string;
  /** Routes of the base; `undefined` without one. */
  readonly earlier: EarlierRoutes | undefined;
  readonly indexOf: (decision: CellDecision) => number;
  readonly work: Work;
}

function reviewedRoute(
  route: RouteNode,
  listener: ListenerNode,
  listeners: readonly string[],
  { gateway, earlier, indexOf, work }: ReviewContext,
): ReviewedRoute {
  const old = earlier?.take(route.name);
  const { subjects, undecided, rows: decided } = routeDecisions(route, listener, work, old);
  const rows = decided.map(({ resource, decisions }) => ({
    resource,
    cells: decisions.map(indexOf),
    changes: earlier && changesOf(decisions, resource, subjects, old, work),
  }));
  return { gateway, name: route.name, listeners, origin: route.origin, subjects, rows, undecided };
}

function changesOf(
  decisions: readonly CellDecision[],
  resource: ReviewedResource,
  subjects: readonly CallerClass[],
  old: EarlierRoute | undefined,
  work: Work,
): ReviewedRow["changes"] {
  return subjects.flatMap((subject, index) => {
    const decision = decisions[index];
    return decision === undefined ? [] : [cellChange(decision, resource, subject, old, work)];
  });
}

/** The decisions about the resources of a route, for each class of callers. */
export interface RouteDecisions extends CallerClasses {
  readonly rows: readonly {
    readonly resource: ReviewedResource;
    /** In the order of the subjects. */
    readonly decisions: readonly CellDecision[];
  }[];
}

/**
 * Decides which classes of callers may use which resources of a route. Classes and items that only the rules of its
 * earlier form name are decided too, because their access may have changed.
 */
export function routeDecisions(
  route: RouteNode,
  listener: ListenerNode,
  work: Work = workOfCommand(),
  earlier?: EarlierRoute,
): RouteDecisions {
  const met = allPolicies(listener, route);
  const own = resourcesAndCallers(route, listener, work);
  const resources = [
    ...own.resources,
    ...(earlier === undefined ? [] : formerItems(earlier, own.resources)),
  ];
  const known = new Set(own.subjects.map(({ key }) => key));
  const former = (earlier?.subjects ?? []).filter(({ key }) => !known.has(key));
  const [subjects, { undecided }] = [[...own.subjects, ...former], own];
  const rows = resources.map((resource) => {
    const { anyOf } = resource;
    const policies = anyOf.length === 0 ? [met] : anyOf.map((use) => [...met, use]);
    const decisions = subjects.map((each) => decide(resource, each, policies, route.origin, work));
    return { resource, decisions };
  });
  return { subjects, undecided, rows };
}

function resourcesAndCallers(
  route: RouteNode,
  listener: ListenerNode,
  work: Work,
): CallerClasses & Pick<EarlierRoute, "resources"> {
  // Rules of single models are asked with their model.
  const met = allPolicies(listener, route);
  const chainFor = (target: string | undefined) => chainOf(met, target);
  const resources = resourcesOf(route, listener, chainFor, work);
  return { resources, ...subjectsOf(chainsOf(route, met, resources), work) };
}

/** Decides who may connect: connections have no credentials, only an address. */
function reviewedConnections(
  { route, listeners }: ServedTcpRoute,
  { gateway, earlier, indexOf, work }: ReviewContext,
): ReviewedRoute {
  const old = earlier?.take(connectionKey(route.name));
  const [listener] = listeners;
  const policies = [...(listener?.admission ?? []), ...route.policies];
  const { subjects } = subjectsOf([chainOf([], undefined)], work);
  const hosts = listeners.flatMap(({ table }) => table.filter((each) => each.route === route.id));
  const rows = [...new Set(hosts.map(({ hostname }) => hostname))].map((hostname) => {
    const resource: ReviewedResource = {
      kind: "connection",
      name: hostname === "*" ? "any server name" : hostname,
      isLocked: true,
      data: {},
      open: [],
      anyOf: [],
    };
    const decisions = subjects.map((each) =>
      decide(resource, each, [policies], route.origin, work),
    );
    const changes = earlier && changesOf(decisions, resource, subjects, old, work);
    return { resource, cells: decisions.map(indexOf), changes };
  });
  const names = listeners.map(({ name }) => name);
  return {
    gateway,
    name: route.name,
    listeners: names,
    origin: route.origin,
    subjects,
    rows,
    undecided: [],
  };
}

/** Returns the chains of a route: one for each MCP server, or for each of the further policies of its models. */
function chainsOf(
  route: RouteNode,
  met: readonly PolicyUse[],
  resources: readonly ReviewedResource[],
): readonly AccessChain[] {
  const targets = new Set(route.backends.flatMap(servedTargets));
  const shared = targets.size === 0 ? [undefined] : [...targets];
  const further = new Set(resources.flatMap(({ anyOf }) => anyOf));
  return [
    ...shared.map((target) => chainOf(met, target)),
    ...[...further].map((use) => chainOf([...met, use], undefined)),
  ];
}
