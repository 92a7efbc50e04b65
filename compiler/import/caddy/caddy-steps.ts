import type { OrderedMatch, OrderedPath, OrderedRoute } from "../proxy/ordered-routes.ts";
import { type DraftFields, merged } from "../proxy/route-draft.ts";

/** A step of Caddy's handling of a request. */
export type CaddyStep =
  /** Changes the request or response. */
  | { readonly kind: "change"; readonly policies: DraftFields; readonly notes: readonly string[] }
  /** Strips a prefix from the path. */
  | { readonly kind: "strip"; readonly prefix: string; readonly place: string }
  /** Responds or proxies. */
  | {
      readonly kind: "end";
      readonly policies: DraftFields;
      readonly backends: readonly DraftFields[];
      readonly notes: readonly string[];
    }
  | { readonly kind: "routes"; readonly routes: readonly CaddyRoute[] }
  /** A step without counterpart in gwc: routes that reach it are closed. */
  | { readonly kind: "problem"; readonly text: string };

/** Steps for matching requests. */
export interface CaddyRoute {
  readonly name: string;
  /** Empty for all requests; a string is the reason why they cannot be converted. */
  readonly matches: readonly OrderedMatch[] | string;
  readonly steps: readonly CaddyStep[];
  /** Whether matching requests never reach later routes, even if no step responds. */
  readonly isTerminal: boolean;
}

/** State of a walk through the steps. */
interface Walk {
  readonly matches: readonly OrderedMatch[];
  readonly name: string;
  readonly policies: DraftFields;
  readonly notes: readonly string[];
  readonly stripped: string | undefined;
  readonly problem: string | undefined;
}

/** Flattens Caddy's routes into first-match routes; as in Caddy, requests that no step answers get an empty 200. */
export function routesOfSteps(routes: readonly CaddyRoute[]): readonly OrderedRoute[] {
  const found: OrderedRoute[] = [];
  const start: Walk = {
    ...{ matches: [{}], name: "all", policies: {}, notes: [] },
    ...{ stripped: undefined, problem: undefined },
  };
  const rest = through(routes, start, found);
  if (rest !== undefined) found.push(ended(rest, { directResponse: { status: 200 } }, [], []));
  return found;
}

/** Walks through routes; returns the state for later routes, or `undefined` if no request gets that far. */
function through(
  routes: readonly CaddyRoute[],
  start: Walk,
  found: OrderedRoute[],
): Walk | undefined {
  let walk = start;
  for (const { name, matches, steps, isTerminal } of routes) {
    if (typeof matches === "string") {
      walk = { ...walk, problem: walk.problem ?? matches };
      continue;
    }
    const isAll = matches.length === 0;
    const met = isAll ? walk.matches : both(walk.matches, matches, walk.stripped !== undefined);
    if (typeof met === "string") {
      walk = { ...walk, problem: walk.problem ?? met };
      continue;
    }
    if (met.length === 0) continue;
    const inner = inside(steps, { ...walk, matches: met, name: isAll ? walk.name : name }, found);
    if (isAll) {
      if (inner === undefined) return undefined;
      walk = inner;
      if (isTerminal) break;
    } else if (inner !== undefined) {
      if (isTerminal) found.push(ended(inner, { directResponse: { status: 200 } }, [], []));
      else if (isChanged(inner, walk)) {
        const text = `${name}: its changes, which apply to some requests only, continue into later routes`;
        walk = { ...walk, problem: walk.problem ?? text };
      }
    }
  }
  return walk;
}

function isChanged(inner: Walk, walk: Walk): boolean {
  return (
    inner.policies !== walk.policies ||
    inner.stripped !== walk.stripped ||
    inner.problem !== walk.problem
  );
}

function inside(steps: readonly CaddyStep[], start: Walk, found: OrderedRoute[]): Walk | undefined {
  let walk = start;
  for (const step of steps) {
    switch (step.kind) {
      case "change":
        walk = {
          ...walk,
          policies: merged(walk.policies, step.policies),
          notes: [...walk.notes, ...step.notes],
        };
        break;
      case "strip":
        walk = { ...walk, stripped: (walk.stripped ?? "") + step.prefix };
        if (!walk.matches.every(({ path }) => isBelow(path, step.prefix)))
          walk = {
            ...walk,
            problem:
              walk.problem ?? `${step.place}: it strips a prefix that its matcher does not require`,
          };
        break;
      case "problem":
        found.push(ended({ ...walk, problem: walk.problem ?? step.text }, {}, [], []));
        return undefined;
      case "end":
        found.push(ended(walk, step.policies, step.backends, step.notes));
        return undefined;
      case "routes": {
        const inner = through(step.routes, walk, found);
        if (inner === undefined) return undefined;
        walk = inner;
        break;
      }
    }
  }
  return walk;
}

function isBelow(path: OrderedPath | undefined, prefix: string): boolean {
  return path?.kind === "start" && path.value.replace(/\/$/, "") === prefix.replace(/\/$/, "");
}

function ended(
  walk: Walk,
  policies: DraftFields,
  backends: readonly DraftFields[],
  notes: readonly string[],
): OrderedRoute {
  const { matches, name, stripped, problem } = walk;
  const path =
    stripped === undefined || backends.length === 0
      ? {}
      : { urlRewrite: { path: { prefix: "/" } } };
  const all = merged(merged(walk.policies, path), policies);
  const refuses = REFUSING.filter((each) => all[each] !== undefined);
  const hasPath = matches.some((match) => match.path !== undefined);
  const folded =
    hasPath && refuses.length > 0
      ? ["Caddy ignores case in paths; in gwc a path in other case belongs to another route"]
      : [];
  return {
    name,
    matches,
    policies: all,
    backends,
    notes: [...walk.notes, ...notes, ...folded],
    problem,
  };
}

const REFUSING: readonly string[] = ["basicAuth", "authorization", "directResponse"];

/** Intersects two lists of matches; returns the reason as a string if that is impossible. */
function both(
  outer: readonly OrderedMatch[],
  inner: readonly OrderedMatch[],
  isStripped: boolean,
): readonly OrderedMatch[] | string {
  if (isStripped && inner.some(({ path }) => path !== undefined))
    return "paths are matched after a prefix was stripped";
  const found: OrderedMatch[] = [];
  for (const a of outer) {
    for (const b of inner) {
      const path = bothPaths(a.path, b.path);
      if (path === "unknown") return "a path pattern is nested in another path matcher";
      if (path === "none") continue;
      if (a.method !== undefined && b.method !== undefined && a.method !== b.method) continue;
      const method = a.method ?? b.method;
      found.push({
        ...(path !== undefined && { path }),
        ...(method !== undefined && { method }),
        headers: [...(a.headers ?? []), ...(b.headers ?? [])],
        query: [...(a.query ?? []), ...(b.query ?? [])],
      });
    }
  }
  return found;
}

function bothPaths(
  a: OrderedPath | undefined,
  b: OrderedPath | undefined,
): OrderedPath | undefined | "none" | "unknown" {
  if (a === undefined || b === undefined) return a ?? b;
  if (a.kind === b.kind && a.value === b.value) return a;
  if (a.kind === "regex" || b.kind === "regex") return "unknown";
  if (b.kind === "start" && a.value.startsWith(b.value)) return a;
  if (a.kind === "start" && b.value.startsWith(a.value)) return b;
  return "none";
}
